package miniapi

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/miniapi/miniapi/auth/authn"
	"github.com/miniapi/miniapi/auth/oidc"
	"github.com/miniapi/miniapi/auth/webhook"
)

// Secure configures the HTTPS port and the credentials that it accepts. The zero value takes a free
// port on loopback, creates a serving certificate, and accepts the administrator of RESTConfig and
// Kubeconfig and the users of AddUser.
type Secure struct {
	// Listen is HOST:PORT; port 0 takes a free one. The host may be any address, since requests
	// are authenticated. Default: 127.0.0.1:0.
	Listen string
	// CertFile and KeyFile are the serving certificate and its key. Default: apiserver.crt and
	// apiserver.key in CertDir.
	CertFile, KeyFile string
	// CertDir keeps the keys and certificates that are not configured, and the administrator's
	// token, so that kubeconfigs and tokens stay valid when the server starts again. Missing files
	// are created: ca, apiserver, front-proxy-ca and front-proxy-client, each with the extensions
	// .crt and .key, sa.key and admin.token. Default: pki in Config.DataDir; without DataDir they
	// are kept in memory.
	CertDir string
	// ClientCAFile holds the CAs of client certificates. The common name of a client certificate is
	// the user, its organizations are the groups.
	ClientCAFile string
	// TokenAuthFile has lines of token, user, uid and quoted groups.
	TokenAuthFile string
	// RequestHeaders trusts front proxies, such as an API gateway, to name the user in headers.
	RequestHeaders RequestHeaders
	// AuthenticationConfig is the path of an AuthenticationConfiguration of
	// apiserver.config.k8s.io, as the flag of kube-apiserver: the issuers of accepted JSON Web
	// Tokens, and the paths for requests without credentials. The file is loaded again when it
	// changes.
	AuthenticationConfig string
	// OIDC is one issuer of accepted JSON Web Tokens, instead of AuthenticationConfig.
	OIDC OIDC
	// TokenWebhook is a server that authenticates bearer tokens. Default: none.
	TokenWebhook TokenWebhook
	// ProxyClientCertFile and ProxyClientKeyFile are the client certificate for requests to the
	// servers of APIServices. Default: front-proxy-client in CertDir.
	ProxyClientCertFile, ProxyClientKeyFile string
	// RejectAnonymous answers requests without credentials with 401. With AlwaysAllow they are
	// always rejected.
	RejectAnonymous bool
	// AcceptAnonymous states the default explicitly. Like RejectAnonymous, it is an error together
	// with the field anonymous in AuthenticationConfig.
	AcceptAnonymous bool

	// ServiceAccountIssuers are the names of the server in service account tokens: the first one in
	// issued tokens, all of them in accepted tokens. Default: https://kubernetes.default.svc.
	ServiceAccountIssuers []string
	// ServiceAccountSigningKeyFile holds the key that signs service account tokens. Default: sa.key
	// in CertDir.
	ServiceAccountSigningKeyFile string
	// ServiceAccountKeyFiles hold the keys that verify them. Default: the signing key.
	ServiceAccountKeyFiles []string
	// SkipServiceAccountLookup accepts the tokens of deleted Secrets and service accounts, for
	// tokens in Secrets of type kubernetes.io/service-account-token.
	SkipServiceAccountLookup bool
}

// RequestHeaders configures front proxies, see the flags --requestheader-* of kube-apiserver.
type RequestHeaders = authn.RequestHeaders

// OIDC describes an issuer of JSON Web Tokens, see the flags --oidc-* of kube-apiserver.
type OIDC = oidc.Flags

// TokenWebhook names a server that authenticates tokens, see the flags
// --authentication-token-webhook-* of kube-apiserver.
type TokenWebhook = webhook.TokenConfig

const defaultIssuer = "https://kubernetes.default.svc"

func (s Secure) withDefaults() *Secure {
	s.Listen = cmp.Or(s.Listen, "127.0.0.1:0")
	if len(s.ServiceAccountIssuers) == 0 {
		s.ServiceAccountIssuers = []string{defaultIssuer}
	}
	return &s
}

func (s *Secure) validate() error {
	if s == nil {
		return nil
	}
	var errs []error
	if _, port, err := net.SplitHostPort(s.Listen); err != nil {
		errs = append(errs, fmt.Errorf("secure address %q is not HOST:PORT, such as 127.0.0.1:6443", s.Listen))
	} else if err := validatePort(s.Listen, port); err != nil {
		errs = append(errs, fmt.Errorf("secure %w", err))
	}
	if (s.CertFile == "") != (s.KeyFile == "") {
		errs = append(errs, errors.New("--tls-cert-file and --tls-private-key-file must be set together"))
	}
	if s.RejectAnonymous && s.AcceptAnonymous {
		errs = append(errs, errors.New("RejectAnonymous and AcceptAnonymous exclude each other"))
	}
	if (s.ProxyClientCertFile == "") != (s.ProxyClientKeyFile == "") {
		errs = append(errs, errors.New("--proxy-client-cert-file and --proxy-client-key-file must be set together"))
	}
	if s.RequestHeaders.ClientCAFile != "" && len(s.RequestHeaders.UsernameHeaders) == 0 {
		errs = append(errs, errors.New("--requestheader-client-ca-file requires --requestheader-username-headers, such as X-Remote-User"))
	}
	if len(s.ServiceAccountKeyFiles) > 0 && s.ServiceAccountSigningKeyFile == "" {
		errs = append(errs, errors.New("--service-account-key-file requires --service-account-signing-key-file"))
	}
	return errors.Join(append(errs, s.validateFiles(), s.validateIssuers(), s.TokenWebhook.Validate())...)
}

// validateIssuers checks the issuers of JSON Web Tokens.
func (s *Secure) validateIssuers() error {
	issuers := s.issuers()
	err := issuers.Validate()
	if err != nil || !s.RejectAnonymous && !s.AcceptAnonymous {
		return err
	}
	anonymous, err := issuers.Anonymous()
	if err == nil && anonymous != nil {
		return errors.New("anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file")
	}
	return err
}

// issuers returns the configuration of the issuers of JSON Web Tokens.
func (s *Secure) issuers() oidc.Config {
	return oidc.Config{File: s.AuthenticationConfig, Flags: s.OIDC, DisallowedIssuers: s.ServiceAccountIssuers}
}

// validateFiles returns an error for each file that does not exist.
func (s *Secure) validateFiles() error {
	var errs []error
	check := func(flag string, paths ...string) {
		for _, path := range paths {
			if _, err := os.Stat(path); path != "" && err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
			}
		}
	}
	check("tls-cert-file", s.CertFile)
	check("tls-private-key-file", s.KeyFile)
	check("client-ca-file", s.ClientCAFile)
	check("token-auth-file", s.TokenAuthFile)
	check("requestheader-client-ca-file", s.RequestHeaders.ClientCAFile)
	check("proxy-client-cert-file", s.ProxyClientCertFile)
	check("proxy-client-key-file", s.ProxyClientKeyFile)
	check("service-account-signing-key-file", s.ServiceAccountSigningKeyFile)
	check("service-account-key-file", s.ServiceAccountKeyFiles...)
	return errors.Join(errs...)
}
