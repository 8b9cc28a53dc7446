package authn

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/miniapi/miniapi/registry"
)

// leeway is how far clocks may be apart, and for how long what is being
// deleted still counts.
const leeway = time.Minute

// ServiceAccountConfig is what ServiceAccounts needs.
type ServiceAccountConfig struct {
	// Issuers name this server in tokens: the first one in those that are
	// issued, all of them in those that are accepted.
	Issuers []string
	// SigningKey is an RSA or ECDSA key.
	SigningKey crypto.Signer
	// VerificationKeys are accepted; empty: that of SigningKey.
	VerificationKeys []crypto.PublicKey
	// Store finds the stores of serviceaccounts, pods, secrets and nodes.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Now tells the time. Nil: time.Now.
	Now func() time.Time
}

// ServiceAccounts issues and checks the tokens of service accounts.
type ServiceAccounts struct {
	config ServiceAccountConfig
	method jwt.SigningMethod
	keyID  string
	keys   jwt.VerificationKeySet
	parser *jwt.Parser
}

// NewServiceAccounts fails where the signing key is of no known kind.
func NewServiceAccounts(config ServiceAccountConfig) (*ServiceAccounts, error) {
	if len(config.Issuers) == 0 || config.SigningKey == nil {
		return nil, errors.New("service account tokens need an issuer and a signing key")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if len(config.VerificationKeys) == 0 {
		config.VerificationKeys = []crypto.PublicKey{config.SigningKey.Public()}
	}
	method, err := methodOf(config.SigningKey.Public())
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	id, err := keyID(config.SigningKey.Public())
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	s := &ServiceAccounts{config: config, method: method, keyID: id}
	for _, key := range config.VerificationKeys {
		s.keys.Keys = append(s.keys.Keys, key)
	}
	s.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"}),
		jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(config.Now),
	)
	return s, nil
}

// claims are the content of a token.
type claims struct {
	jwt.RegisteredClaims
	Kubernetes kubernetesClaims `json:"kubernetes.io"`
}

type kubernetesClaims struct {
	Namespace      string     `json:"namespace,omitempty"`
	Node           *reference `json:"node,omitempty"`
	Pod            *reference `json:"pod,omitempty"`
	Secret         *reference `json:"secret,omitempty"`
	ServiceAccount *reference `json:"serviceaccount,omitempty"`
}

type reference struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

func referenceTo(object *registry.TokenObject) *reference {
	if object == nil {
		return nil
	}
	return &reference{Name: object.Name, UID: object.UID}
}

// Issue signs a token.
func (s *ServiceAccounts) Issue(_ context.Context, wanted registry.TokenClaims) (string, error) {
	token := jwt.NewWithClaims(s.method, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    s.config.Issuers[0],
			Subject:   userNameOf(wanted.Namespace, wanted.Account.Name),
			Audience:  wanted.Audiences,
			ExpiresAt: jwt.NewNumericDate(wanted.IssuedAt.Add(wanted.Lifetime)),
			NotBefore: jwt.NewNumericDate(wanted.IssuedAt),
			IssuedAt:  jwt.NewNumericDate(wanted.IssuedAt),
			ID:        string(uuid.NewUUID()),
		},
		Kubernetes: kubernetesClaims{
			Namespace:      wanted.Namespace,
			Node:           referenceTo(wanted.Node),
			Pod:            referenceTo(wanted.Pod),
			Secret:         referenceTo(wanted.Secret),
			ServiceAccount: referenceTo(&wanted.Account),
		},
	})
	token.Header["kid"] = s.keyID
	return token.SignedString(s.config.SigningKey)
}

// Identify is a TokenFunc. It knows every token that names one of the issuers.
func (s *ServiceAccounts) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	var unverified jwt.RegisteredClaims
	if _, _, err := s.parser.ParseUnverified(token, &unverified); err != nil || !slices.Contains(s.config.Issuers, unverified.Issuer) {
		return nil, nil
	}
	var content claims
	_, err := s.parser.ParseWithClaims(token, &content, func(*jwt.Token) (any, error) { return s.keys, nil })
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, errors.New("service account token has expired")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return nil, errors.New("service account token is not valid yet")
	case err != nil:
		return nil, fmt.Errorf("service account token: %w", err)
	case content.ExpiresAt == nil, content.Kubernetes.ServiceAccount == nil:
		return nil, errors.New("service account token lacks claims that all of them have")
	}
	meant := intersection(content.Audience, audiences)
	if len(meant) == 0 {
		return nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(content.Audience), audiences)
	}
	user, err := s.owner(ctx, &content)
	if err != nil {
		return nil, err
	}
	return &registry.TokenIdentity{User: user, Audiences: meant}, nil
}

func intersection(a, b []string) []string {
	var both []string
	for _, value := range a {
		if slices.Contains(b, value) && !slices.Contains(both, value) {
			both = append(both, value)
		}
	}
	return both
}

func userNameOf(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}
