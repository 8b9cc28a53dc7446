package authn

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/auth/oidc"
	"github.com/miniapi/miniapi/auth/webhook"
	"github.com/miniapi/miniapi/internal/collectors"
	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/registry"
)

// Config selects the credentials that a server accepts.
type Config struct {
	// Authority signs client certificates. Certificates of ClientCAFile are accepted too. Nil
	// without HTTPS.
	Authority *certs.Authority
	// ClientCAFile and TokenAuthFile are files as for kube-apiserver. Empty: none.
	ClientCAFile, TokenAuthFile string
	// RequestHeaders trusts front proxies.
	RequestHeaders RequestHeaders
	// OIDC names the issuers of JSON Web Tokens.
	OIDC oidc.Config
	// TokenWebhook is a server that authenticates tokens.
	TokenWebhook webhook.TokenConfig
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// AllowAnonymous accepts requests without credentials as system:anonymous. The file of OIDC
	// takes precedence.
	AllowAnonymous bool
	// Dir keeps the administrator's token, and the signing key without SigningKeyFile.
	Dir certs.Directory
	// SigningKeyFile holds the key of issued tokens. Empty: sa.key in Dir; without Dir, a new key.
	SigningKeyFile string
	// KeyFiles hold the keys of accepted tokens. Empty: the signing key.
	KeyFiles []string
	// ServiceAccounts configures tokens of service accounts. Its keys are set by NewCredentials.
	ServiceAccounts ServiceAccountConfig
}

// Credentials authenticates the requests of a server: by client certificates, static tokens, tokens
// of service accounts and of other issuers, and the headers of front proxies. Safe for concurrent
// use.
type Credentials struct {
	authenticate Authenticator
	anonymous    Authenticator
	tokens       Tokens
	adminToken   string
	clientCA     *certs.Reloaded[*bundle] // nil without HTTPS
	closers      []func()
	collectors   []prometheus.Collector
	reloads      collectors.All
}

// bundle has the CAs of client certificates.
type bundle struct {
	pem  []byte
	pool *x509.CertPool
}

// NewCredentials loads keys, certificates and tokens. It creates the administrator's token.
func NewCredentials(config Config) (*Credentials, error) {
	c := &Credentials{}
	users := &StaticTokens{}
	if config.TokenAuthFile != "" {
		if err := users.AddFile(config.TokenAuthFile); err != nil {
			return nil, err
		}
	}
	token, err := config.Dir.Secret("admin.token", newToken)
	if err != nil {
		return nil, err
	}
	c.adminToken = strings.TrimSpace(string(token))
	users.Add(c.adminToken, administrator())
	accounts, err := loadServiceAccounts(config)
	if err != nil {
		return nil, err
	}
	c.collectors = append(c.collectors, accounts.Collector())
	remote, err := c.remoteTokens(config)
	if err != nil {
		return nil, err
	}
	functions := append([]TokenFunc{forAudiences(config.ServiceAccounts.Issuers, users.Identify), accounts.Identify}, remote...)
	c.tokens = Tokens{ServiceAccounts: accounts, Any: AnyOf(functions...)}
	if c.anonymous, err = config.anonymous(); err != nil {
		return nil, err
	}
	bearer := Bearer(c.tokens.Any, config.ServiceAccounts.Issuers...)
	webSocket := WebSocketBearer(c.tokens.Any, config.ServiceAccounts.Issuers...)
	if config.Authority == nil {
		c.authenticate = Chain(bearer, webSocket)
		return c, nil
	}
	chain, err := c.certificateAuthenticators(config)
	c.authenticate = Chain(append(chain, bearer, webSocket)...)
	return c, err
}

// remoteTokens returns the functions for tokens that other servers issue or verify.
func (c *Credentials) remoteTokens(config Config) ([]TokenFunc, error) {
	var functions []TokenFunc
	audiences := config.ServiceAccounts.Issuers
	if config.OIDC.Enabled() {
		config.OIDC.Outgoing = config.Outgoing
		config.OIDC.Logger = config.ServiceAccounts.Logger
		issuers, err := oidc.New(config.OIDC)
		if err != nil {
			return nil, err
		}
		c.closers = append(c.closers, issuers.Close)
		c.collectors = append(c.collectors, issuers.Collector())
		c.reloads = append(c.reloads, issuers.Reloads())
		functions = append(functions, forAudiences(audiences, issuers.Identify))
	}
	if config.TokenWebhook.ConfigFile != "" {
		tokens, err := webhook.NewTokens(webhook.TokensConfig{
			TokenConfig: config.TokenWebhook, Audiences: audiences, Outgoing: config.Outgoing,
		})
		if err != nil {
			return nil, err
		}
		c.closers = append(c.closers, tokens.Close)
		functions = append(functions, tokens.Identify)
	}
	return functions, nil
}

// Collectors returns the metrics of the authenticators.
func (c *Credentials) Collectors() []prometheus.Collector { return c.collectors }

// Reloads returns the metrics of the reloads of the AuthenticationConfiguration.
func (c *Credentials) Reloads() prometheus.Collector { return c.reloads }

// Run blocks until ctx ends, which is no error, and closes the connections to other servers.
func (c *Credentials) Run(ctx context.Context) error {
	<-ctx.Done()
	for _, closeConnections := range c.closers {
		closeConnections()
	}
	return nil
}

// certificateAuthenticators returns the authenticators of HTTPS: of front proxies and of client
// certificates. They read the files of CAs again when the files change.
func (c *Credentials) certificateAuthenticators(config Config) ([]Authenticator, error) {
	var chain []Authenticator
	logger := config.ServiceAccounts.Logger
	if file := config.RequestHeaders.ClientCAFile; file != "" {
		proxies, err := certs.Reload(func() (*bundle, error) { return loadBundle(file) }, logger, file)
		if err != nil {
			return nil, err
		}
		chain = append(chain, config.RequestHeaders.Authenticator(Certificates(func() *x509.CertPool { return proxies.Get().pool })))
	}
	var files []string
	if config.ClientCAFile != "" {
		files = append(files, config.ClientCAFile)
	}
	var err error
	if c.clientCA, err = certs.Reload(config.loadClientCA, logger, files...); err != nil {
		return nil, err
	}
	return append(chain, Certificates(func() *x509.CertPool { return c.clientCA.Get().pool })), nil
}

// loadClientCA returns the CAs of client certificates: those in the file and the CA of the server.
func (config Config) loadClientCA() (*bundle, error) {
	b := &bundle{pool: x509.NewCertPool()}
	if config.ClientCAFile != "" {
		var err error
		if b, err = loadBundle(config.ClientCAFile); err != nil {
			return nil, err
		}
	}
	config.Authority.AddTo(b.pool)
	b.pem = append(b.pem, config.Authority.CertificatePEM()...)
	return b, nil
}

func loadBundle(file string) (*bundle, error) {
	data, pool, err := certs.LoadBundle(file)
	return &bundle{data, pool}, err
}

func newToken() ([]byte, error) {
	token := make([]byte, 16)
	rand.Read(token) // never fails
	return []byte(hex.EncodeToString(token)), nil
}

func loadServiceAccounts(config Config) (*ServiceAccounts, error) {
	accounts := config.ServiceAccounts
	var err error
	switch {
	case config.SigningKeyFile != "":
		accounts.SigningKey, err = LoadSigningKey(config.SigningKeyFile)
	case config.Dir != "":
		accounts.SigningKey, err = loadOrCreateKey(config.Dir)
	}
	if err != nil {
		return nil, err
	}
	for _, file := range config.KeyFiles {
		var keys []crypto.PublicKey
		if keys, err = LoadVerificationKeys(file); err != nil {
			return nil, err
		}
		accounts.VerificationKeys = append(accounts.VerificationKeys, keys...)
	}
	return NewServiceAccounts(accounts)
}

// Tokens returns the implementation of TokenRequest and TokenReview.
func (c *Credentials) Tokens() registry.Tokens { return c.tokens }

// OpenID returns the OpenID discovery documents of service account tokens; see
// [ServiceAccounts.OpenID].
func (c *Credentials) OpenID(keysURL string) (*OpenID, error) { return c.tokens.OpenID(keysURL) }

// AdminToken returns a bearer token of the administrator.
func (c *Credentials) AdminToken() string { return c.adminToken }

// ClientCA returns the CAs of client certificates in PEM, nothing without HTTPS.
func (c *Credentials) ClientCA() []byte {
	if c.clientCA == nil {
		return nil
	}
	return c.clientCA.Get().pem
}

// Authenticate returns the user of a request. A request over plain HTTP without a bearer token is
// the administrator's. It returns nil and no error for a request without credentials that is not
// accepted, and an error for invalid credentials. Both mean 401.
func (c *Credentials) Authenticate(r *http.Request) (*authenticationv1.UserInfo, error) {
	user, ok, err := c.authenticate(r)
	switch {
	case ok || err != nil:
		return user, err
	case r.TLS == nil:
		user := administrator()
		return &user, nil
	}
	user, _, _ = c.anonymous(r) // nil if such requests are not accepted
	return user, nil
}

// administrator is the user of the plain port and of the administrator's token.
func administrator() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "system:admin", Groups: []string{"system:masters", "system:authenticated"}}
}
