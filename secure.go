package miniapi

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/api"
	"github.com/miniapi/miniapi/auth/authn"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/registry"
)

// Secure is how a server speaks TLS, and to whom. The zero value takes a free
// port on loopback, makes its own certificate and knows one user: the
// administrator of RESTConfig and Kubeconfig.
type Secure struct {
	// Listen is HOST:PORT, port 0 for a free one. Any address will do, for
	// nobody gets in without credentials. Default: 127.0.0.1:0.
	Listen string
	// CertFile and KeyFile are the serving certificate. Default: the files
	// apiserver.crt and apiserver.key of CertDir, written there by the first
	// start; without CertDir, a certificate in memory.
	CertFile, KeyFile string
	CertDir           string
	// ClientCAFile holds the CAs of client certificates. The common name of a
	// certificate is the user, its organizations are the groups.
	ClientCAFile string
	// TokenAuthFile has lines of token, user, uid and quoted groups.
	TokenAuthFile string
	// RejectAnonymous answers requests without credentials with 401. They are
	// never let in where everybody may do everything (AlwaysAllow).
	RejectAnonymous bool

	// ServiceAccountIssuers name the server in the tokens that it issues (the
	// first) and accepts (all). Default: https://kubernetes.default.svc.
	ServiceAccountIssuers []string
	// ServiceAccountSigningKeyFile signs tokens of service accounts. Default: a
	// key in memory, whose tokens end with the server.
	ServiceAccountSigningKeyFile string
	// ServiceAccountKeyFiles check them. Default: the signing key.
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
		errs = append(errs, errors.New("a certificate (--tls-cert-file) and its key (--tls-private-key-file) need each other"))
	}
	if len(s.ServiceAccountKeyFiles) > 0 && s.ServiceAccountSigningKeyFile == "" {
		errs = append(errs, errors.New("--service-account-key-file is for tokens that --service-account-signing-key-file has signed, which is not set"))
	}
	return errors.Join(errs...)
}

// secureSide is what a server with a Secure config is made of.
type secureSide struct {
	config    *Secure
	authority *certs.Authority
	serving   certs.Pair
	roots     *x509.CertPool // of client certificates
	users     *authn.StaticTokens
	accounts  *authn.ServiceAccounts
	// adminToken is that of RESTConfig and Kubeconfig.
	adminToken string
}

// newSecureSide reads or makes keys and certificates.
func newSecureSide(config *Secure, service netip.Addr, stores storeFunc) (*secureSide, error) {
	authority, err := certs.NewAuthority("miniapi")
	if err != nil {
		return nil, err
	}
	s := &secureSide{config: config, authority: authority, users: &authn.StaticTokens{}}
	if s.serving, err = s.servingPair(service); err != nil {
		return nil, err
	}
	s.roots = x509.NewCertPool()
	if config.ClientCAFile != "" {
		if s.roots, err = certs.LoadPool(config.ClientCAFile); err != nil {
			return nil, err
		}
	}
	authority.AddTo(s.roots)
	if config.TokenAuthFile != "" {
		if err := s.users.AddFile(config.TokenAuthFile); err != nil {
			return nil, err
		}
	}
	token := make([]byte, 16)
	rand.Read(token) // never fails
	s.adminToken = hex.EncodeToString(token)
	s.users.Add(s.adminToken, administrator())
	s.accounts, err = newServiceAccounts(config, stores)
	return s, err
}

func (s *secureSide) servingPair(service netip.Addr) (certs.Pair, error) {
	issue := func() (certs.Pair, error) {
		names, err := servingNames(s.config.Listen, service)
		if err != nil {
			return certs.Pair{}, err
		}
		return s.authority.IssueServing(names...)
	}
	switch {
	case s.config.CertFile != "":
		return certs.LoadServing(s.config.CertFile, s.config.KeyFile)
	case s.config.CertDir != "":
		return certs.LoadOrCreate(s.config.CertDir, issue)
	default:
		return issue()
	}
}

// servingNames are what clients may call the server: those of a cluster, and
// where it listens.
func servingNames(listen string, service netip.Addr) ([]string, error) {
	names := []string{
		"localhost", "127.0.0.1", "::1", service.String(),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	if addr, err := netip.ParseAddr(host); host != "" && (err != nil || !addr.IsUnspecified()) {
		return append(names, host), nil
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("addresses for the serving certificate: %w", err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok {
			names = append(names, network.IP.String())
		}
	}
	return names, nil
}

func newServiceAccounts(config *Secure, stores storeFunc) (*authn.ServiceAccounts, error) {
	var key crypto.Signer
	var err error
	if config.ServiceAccountSigningKeyFile == "" {
		key, err = authn.NewKey()
	} else {
		key, err = authn.LoadSigningKey(config.ServiceAccountSigningKeyFile)
	}
	if err != nil {
		return nil, err
	}
	var accepted []crypto.PublicKey
	for _, file := range config.ServiceAccountKeyFiles {
		keys, err := authn.LoadVerificationKeys(file)
		if err != nil {
			return nil, err
		}
		accepted = append(accepted, keys...)
	}
	return authn.NewServiceAccounts(authn.ServiceAccountConfig{
		Issuers:          config.ServiceAccountIssuers,
		SigningKey:       key,
		VerificationKeys: accepted,
		Store:            stores,
	})
}

// tokens answers TokenRequest and TokenReview.
func (s *secureSide) tokens() registry.Tokens {
	return authn.Tokens{ServiceAccounts: s.accounts, Any: s.identifyToken()}
}

// openID is what others need to check tokens; nil where no token is issued, or
// an issuer is no URL that they would accept.
func (s *Server) openID() *api.OpenID {
	if s.secure == nil {
		return nil
	}
	documents, err := s.secure.accounts.OpenID(s.URL() + api.OpenIDKeysPath)
	if err != nil {
		s.config.Logger.Warn("OpenID discovery is not served", "error", err)
		return nil
	}
	return (*api.OpenID)(documents)
}

func (s *secureSide) identifyToken() authn.TokenFunc {
	return authn.AnyOf(s.users.Identify, s.accounts.Identify)
}

// authenticate returns who makes a request: over TLS whoever the credentials
// say, over plain HTTP the administrator.
func (s *secureSide) authenticate(letAnonymousIn bool) func(*http.Request) (*authenticationv1.UserInfo, error) {
	known := authn.Chain(authn.Certificates(s.roots), authn.Bearer(s.identifyToken(), s.config.ServiceAccountIssuers...))
	if letAnonymousIn {
		known = authn.OrAnonymous(known)
	}
	return func(r *http.Request) (*authenticationv1.UserInfo, error) {
		if r.TLS == nil {
			user := administrator()
			return &user, nil
		}
		user, ok, err := known(r)
		if err == nil && !ok {
			err = errors.New("the request has no credentials")
		}
		return user, err
	}
}

// administrator is who uses the plain listener and the admin token.
func administrator() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "system:admin", Groups: []string{"system:masters", "system:authenticated"}}
}

// tlsConfig is for the listener. Client certificates are asked for and checked
// by authenticate, so that a wrong one is a 401 and no broken handshake.
func (s *secureSide) tlsConfig() (*tls.Config, error) {
	certificate, err := s.serving.TLS()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequestClientCert,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}, nil
}
