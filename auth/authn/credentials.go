package authn

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/auth/certs"
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
	// AllowAnonymous accepts requests without credentials as system:anonymous.
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
// of service accounts, and the headers of front proxies. Safe for concurrent use.
type Credentials struct {
	authenticate   Authenticator
	allowAnonymous bool
	tokens         Tokens
	adminToken     string
	clientCA       []byte
}

// NewCredentials loads keys, certificates and tokens. It creates the administrator's token.
func NewCredentials(config Config) (*Credentials, error) {
	c := &Credentials{allowAnonymous: config.AllowAnonymous}
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
	c.tokens = Tokens{ServiceAccounts: accounts, Any: AnyOf(users.Identify, accounts.Identify)}
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

// certificateAuthenticators returns the authenticators of HTTPS: of front proxies and of client
// certificates.
func (c *Credentials) certificateAuthenticators(config Config) ([]Authenticator, error) {
	var chain []Authenticator
	if file := config.RequestHeaders.ClientCAFile; file != "" {
		_, proxies, err := certs.LoadBundle(file)
		if err != nil {
			return nil, err
		}
		chain = append(chain, config.RequestHeaders.Authenticator(Certificates(proxies)))
	}
	roots := x509.NewCertPool()
	if config.ClientCAFile != "" {
		var err error
		if c.clientCA, roots, err = certs.LoadBundle(config.ClientCAFile); err != nil {
			return nil, err
		}
	}
	config.Authority.AddTo(roots)
	c.clientCA = append(c.clientCA, config.Authority.CertificatePEM()...)
	return append(chain, Certificates(roots)), nil
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
func (c *Credentials) ClientCA() []byte { return c.clientCA }

// Authenticate returns the user of a request. A request over plain HTTP without a bearer token is
// the administrator's. An error means 401.
func (c *Credentials) Authenticate(r *http.Request) (*authenticationv1.UserInfo, error) {
	user, ok, err := c.authenticate(r)
	switch {
	case ok || err != nil:
		return user, err
	case r.TLS == nil:
		user := administrator()
		return &user, nil
	case c.allowAnonymous:
		return &authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{unauthenticatedGroup}}, nil
	default:
		return nil, errors.New("the request has no credentials")
	}
}

// administrator is the user of the plain port and of the administrator's token.
func administrator() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "system:admin", Groups: []string{"system:masters", "system:authenticated"}}
}
