package authn

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/miniapi/miniapi/registry"
)

// leeway is the tolerated clock skew, and the time for which terminating objects still count as
// existing.
const leeway = time.Minute

// ServiceAccountConfig configures ServiceAccounts.
type ServiceAccountConfig struct {
	// Issuers are the accepted issuers of tokens. The first one is the issuer of new tokens.
	Issuers []string
	// SigningKey is the RSA or ECDSA key that signs tokens. Nil: a new key, which is generated when
	// it is needed for the first time.
	SigningKey crypto.Signer
	// VerificationKeys verify tokens. Empty: the public part of SigningKey.
	VerificationKeys []crypto.PublicKey
	// Store returns the stores of serviceaccounts, pods, secrets and nodes.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// SkipLookup accepts a token in a Secret without checking that the Secret and the service
	// account exist.
	SkipLookup bool
	// Now returns the current time. Nil: time.Now.
	Now func() time.Time
	// Logger takes failures to label the Secrets of tokens. Nil: no log.
	Logger *slog.Logger
}

// ServiceAccounts issues and verifies service account tokens. It is safe for concurrent use.
type ServiceAccounts struct {
	config ServiceAccountConfig
	keys   func() (*tokenKeys, error)
	parser *jwt.Parser
}

// NewServiceAccounts returns an error without an issuer, or if the signing key is not supported.
func NewServiceAccounts(config ServiceAccountConfig) (*ServiceAccounts, error) {
	if len(config.Issuers) == 0 {
		return nil, errors.New("service account tokens need an issuer")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	s := &ServiceAccounts{config: config, keys: sync.OnceValues(config.tokenKeys)}
	if config.SigningKey != nil {
		if _, err := s.keys(); err != nil {
			return nil, err
		}
	}
	s.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"}),
		jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(config.Now),
	)
	return s, nil
}

// claims is the payload of a token.
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

// Issue returns a signed token.
func (s *ServiceAccounts) Issue(_ context.Context, request registry.TokenClaims) (string, error) {
	keys, err := s.keys()
	if err != nil {
		return "", err
	}
	token := jwt.NewWithClaims(keys.method, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    s.config.Issuers[0],
			Subject:   userNameOf(request.Namespace, request.Account.Name),
			Audience:  request.Audiences,
			ExpiresAt: jwt.NewNumericDate(request.IssuedAt.Add(request.Lifetime)),
			NotBefore: jwt.NewNumericDate(request.IssuedAt),
			IssuedAt:  jwt.NewNumericDate(request.IssuedAt),
			ID:        string(uuid.NewUUID()),
		},
		Kubernetes: kubernetesClaims{
			Namespace:      request.Namespace,
			Node:           referenceTo(request.Node),
			Pod:            referenceTo(request.Pod),
			Secret:         referenceTo(request.Secret),
			ServiceAccount: referenceTo(&request.Account),
		},
	})
	token.Header["kid"] = keys.id
	return token.SignedString(keys.signer)
}

// Identify is a TokenFunc for tokens of the issuers, and for tokens in Secrets.
func (s *ServiceAccounts) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	var unverified jwt.RegisteredClaims
	_, _, err := s.parser.ParseUnverified(token, &unverified)
	switch {
	case err == nil && slices.Contains(s.config.Issuers, unverified.Issuer):
		return s.identifyIssued(ctx, token, audiences)
	case err == nil && unverified.Issuer == legacyIssuer:
		return s.identifyLegacy(ctx, token, audiences)
	default:
		return nil, nil
	}
}

// identifyIssued returns the service account of a token that Issue returned, here or in another
// server with the same keys.
func (s *ServiceAccounts) identifyIssued(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	var content claims
	_, err := s.parser.ParseWithClaims(token, &content, s.verification)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, errors.New("service account token has expired")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return nil, errors.New("service account token is not valid yet")
	case err != nil:
		return nil, fmt.Errorf("service account token: %w", err)
	case content.ExpiresAt == nil, content.Kubernetes.ServiceAccount == nil:
		return nil, errors.New("service account token has no expiry or no service account")
	}
	valid := intersection(content.Audience, audiences)
	if len(valid) == 0 {
		return nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(content.Audience), audiences)
	}
	user, err := s.validate(ctx, &content)
	if err != nil {
		return nil, err
	}
	return &registry.TokenIdentity{User: user, Audiences: valid}, nil
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

func serviceAccountGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

func userNameOf(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}
