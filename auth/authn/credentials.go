package authn

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/registry"
)

// Config selects the credentials that a server accepts.
type Config struct {
	// Authority signs client certificates. Certificates of ClientCAFile are accepted too.
	Authority *certs.Authority
	// ClientCAFile and TokenAuthFile are files as for kube-apiserver. Empty: none.
	ClientCAFile, TokenAuthFile string
	// AllowAnonymous accepts requests without credentials as system:anonymous.
	AllowAnonymous bool
	// Issuers are the names of the server in tokens of service accounts: the first one in issued
	// tokens, all of them in accepted ones.
	Issuers []string
	// SigningKeyFile holds the key of issued tokens. Empty: a key in memory.
	SigningKeyFile string
	// KeyFiles hold the keys of accepted tokens. Empty: the signing key.
	KeyFiles []string
	// Store finds the stores of serviceaccounts, pods, secrets and nodes.
	Store func(schema.GroupResource) (*registry.Store, bool)
}

// Credentials authenticates the requests of a server: by client certificates, static tokens and
// tokens of service accounts. Safe for concurrent use.
type Credentials struct {
	authenticate Authenticator
	tokens       Tokens
	adminToken   string
}

// NewCredentials loads keys, certificates and tokens. It creates a token for the administrator.
func NewCredentials(config Config) (*Credentials, error) {
	roots := x509.NewCertPool()
	if config.ClientCAFile != "" {
		var err error
		if roots, err = certs.LoadPool(config.ClientCAFile); err != nil {
			return nil, err
		}
	}
	config.Authority.AddTo(roots)
	users := &StaticTokens{}
	if config.TokenAuthFile != "" {
		if err := users.AddFile(config.TokenAuthFile); err != nil {
			return nil, err
		}
	}
	adminToken := newToken()
	users.Add(adminToken, administrator())
	accounts, err := loadServiceAccounts(config)
	if err != nil {
		return nil, err
	}
	identify := AnyOf(users.Identify, accounts.Identify)
	authenticate := Chain(Certificates(roots), Bearer(identify, config.Issuers...))
	if config.AllowAnonymous {
		authenticate = OrAnonymous(authenticate)
	}
	return &Credentials{authenticate, Tokens{ServiceAccounts: accounts, Any: identify}, adminToken}, nil
}

func newToken() string {
	token := make([]byte, 16)
	rand.Read(token) // never fails
	return hex.EncodeToString(token)
}

func loadServiceAccounts(config Config) (*ServiceAccounts, error) {
	accounts := ServiceAccountConfig{Issuers: config.Issuers, Store: config.Store}
	var err error
	if config.SigningKeyFile == "" {
		accounts.SigningKey, err = NewKey()
	} else {
		accounts.SigningKey, err = LoadSigningKey(config.SigningKeyFile)
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

// AdminToken returns a bearer token of the administrator, valid until the server ends.
func (c *Credentials) AdminToken() string { return c.adminToken }

// Authenticate returns the user of a request. A request over plain HTTP is the administrator's.
// An error means 401.
func (c *Credentials) Authenticate(r *http.Request) (*authenticationv1.UserInfo, error) {
	if r.TLS == nil {
		user := administrator()
		return &user, nil
	}
	user, ok, err := c.authenticate(r)
	if err == nil && !ok {
		err = errors.New("the request has no credentials")
	}
	return user, err
}

// administrator is the user of the plain port and of the administrator's token.
func administrator() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "system:admin", Groups: []string{"system:masters", "system:authenticated"}}
}
