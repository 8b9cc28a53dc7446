package miniapi

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/miniapi/miniapi/auth/authn"
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
	// ProxyClientCertFile and ProxyClientKeyFile are the client certificate for requests to the
	// servers of APIServices. Default: front-proxy-client in CertDir.
	ProxyClientCertFile, ProxyClientKeyFile string
	// RejectAnonymous answers requests without credentials with 401. With AlwaysAllow they are
	// always rejected.
	RejectAnonymous bool

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
	if (s.ProxyClientCertFile == "") != (s.ProxyClientKeyFile == "") {
		errs = append(errs, errors.New("--proxy-client-cert-file and --proxy-client-key-file must be set together"))
	}
	if s.RequestHeaders.ClientCAFile != "" && len(s.RequestHeaders.UsernameHeaders) == 0 {
		errs = append(errs, errors.New("--requestheader-client-ca-file requires --requestheader-username-headers, such as X-Remote-User"))
	}
	if len(s.ServiceAccountKeyFiles) > 0 && s.ServiceAccountSigningKeyFile == "" {
		errs = append(errs, errors.New("--service-account-key-file requires --service-account-signing-key-file"))
	}
	return errors.Join(append(errs, s.validateFiles())...)
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
