package miniapi

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/auth/authn"
	"github.com/miniapi/miniapi/auth/authz"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/registry"
)

// Secure configures the HTTPS port and the credentials that it accepts. The zero value takes a free
// port on loopback, creates a serving certificate, and accepts the administrator of RESTConfig and
// Kubeconfig and the users of AddUser.
type Secure struct {
	// Listen is HOST:PORT; port 0 takes a free one. The host may be any address, since requests
	// are authenticated. Default: 127.0.0.1:0.
	Listen string
	// CertFile and KeyFile are the serving certificate and its key. Default: apiserver.crt and
	// apiserver.key in CertDir, which are created if both are absent.
	CertFile, KeyFile string
	// CertDir is not used with CertFile. Default: the certificate is kept in memory.
	CertDir string
	// ClientCAFile holds the CAs of client certificates. The common name of a client certificate is
	// the user, its organizations are the groups.
	ClientCAFile string
	// TokenAuthFile has lines of token, user, uid and quoted groups.
	TokenAuthFile string
	// RejectAnonymous answers requests without credentials with 401. With AlwaysAllow they are
	// always rejected.
	RejectAnonymous bool

	// ServiceAccountIssuers are the names of the server in service account tokens: the first one in
	// issued tokens, all of them in accepted tokens. Default: https://kubernetes.default.svc.
	ServiceAccountIssuers []string
	// ServiceAccountSigningKeyFile holds the key that signs service account tokens. Default: a key
	// in memory, whose tokens are valid until the server ends.
	ServiceAccountSigningKeyFile string
	// ServiceAccountKeyFiles hold the keys that verify them. Default: the signing key.
	ServiceAccountKeyFiles []string
}

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
	check("service-account-signing-key-file", s.ServiceAccountSigningKeyFile)
	check("service-account-key-file", s.ServiceAccountKeyFiles...)
	return errors.Join(errs...)
}

// identity holds the keys and certificates of a server with a secure port.
type identity struct {
	authority   *certs.Authority // signs the certificates of AddUser
	serving     certs.Pair
	tls         *tls.Config
	credentials *authn.Credentials
}

// newIdentity loads or creates keys and certificates. store finds the stores of service accounts.
func newIdentity(config Config, serviceIP netip.Addr, store func(schema.GroupResource) (*registry.Store, bool)) (*identity, error) {
	secure := config.Secure
	authority, err := certs.NewAuthority("miniapi")
	if err != nil {
		return nil, err
	}
	id := &identity{authority: authority}
	id.serving, err = authority.Serving(certs.ServingConfig{
		CertFile: secure.CertFile, KeyFile: secure.KeyFile, Dir: secure.CertDir,
		Listen: secure.Listen, ServiceIP: serviceIP,
	})
	if err != nil {
		return nil, err
	}
	if id.tls, err = id.serving.ServerConfig(); err != nil {
		return nil, err
	}
	id.credentials, err = authn.NewCredentials(authn.Config{
		Authority:      authority,
		ClientCAFile:   secure.ClientCAFile,
		TokenAuthFile:  secure.TokenAuthFile,
		AllowAnonymous: !secure.RejectAnonymous && !config.Authorization.modes().Has(authz.ModeAlwaysAllow),
		Issuers:        secure.ServiceAccountIssuers,
		SigningKeyFile: secure.ServiceAccountSigningKeyFile,
		KeyFiles:       secure.ServiceAccountKeyFiles,
		Store:          store,
	})
	return id, err
}
