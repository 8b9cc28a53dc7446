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
	"github.com/prometheus/client_golang/prometheus"
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
	config  ServiceAccountConfig
	keys    func() (*tokenKeys, error)
	metrics *tokenMetrics
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
	s := &ServiceAccounts{config: config, keys: sync.OnceValues(config.tokenKeys), metrics: newTokenMetrics()}
	if config.SigningKey != nil {
		if _, err := s.keys(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Collector returns the metrics of the tokens.
func (s *ServiceAccounts) Collector() prometheus.Collector { return s.metrics }

// Issue returns a signed token.
func (s *ServiceAccounts) Issue(ctx context.Context, request registry.TokenClaims) (string, error) {
	keys, err := s.keys()
	if err != nil {
		return "", err
	}
	id := string(uuid.NewUUID())
	token := jwt.NewWithClaims(keys.method, jwt.MapClaims{
		"iss": s.config.Issuers[0],
		"sub": userNameOf(request.Namespace, request.Account.Name),
		"aud": request.Audiences,
		"exp": request.IssuedAt.Add(request.Lifetime).Unix(),
		"nbf": request.IssuedAt.Unix(),
		"iat": request.IssuedAt.Unix(),
		"jti": id,
		"kubernetes.io": kubernetesClaims{
			Namespace:      request.Namespace,
			Node:           referenceTo(request.Node),
			Pod:            referenceTo(request.Pod),
			Secret:         referenceTo(request.Secret),
			ServiceAccount: *referenceTo(&request.Account),
			WarnAfter:      warnAfter(&request),
		},
	})
	registry.AddAuditAnnotation(ctx, "authentication.kubernetes.io/issued-credential-id", credentialID(id))
	token.Header = map[string]any{"alg": keys.method.Alg(), "kid": keys.id}
	return token.SignedString(keys.signer)
}

// Identify is a TokenFunc for tokens of the issuers, and for tokens in Secrets.
func (s *ServiceAccounts) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	issuer := unverifiedIssuer(token)
	isIssued := slices.Contains(s.config.Issuers, issuer)
	if !isIssued && issuer != legacyIssuer {
		return nil, nil
	}
	signed, ok := parseToken(token)
	switch {
	case !ok:
		return nil, nil
	case isIssued:
		return s.identifyIssued(ctx, signed, audiences)
	default:
		return s.identifyLegacy(ctx, token, signed, audiences)
	}
}

// identifyIssued returns the service account of a token that Issue returned, here or in another
// server with the same keys.
func (s *ServiceAccounts) identifyIssued(ctx context.Context, signed *signedToken, audiences []string) (*registry.TokenIdentity, error) {
	var content claims
	if err := s.verify(signed, &content); err != nil {
		return nil, err
	}
	if !slices.Contains(s.config.Issuers, content.Issuer) {
		return nil, fmt.Errorf("token issuer %q is invalid", content.Issuer)
	}
	accepted, err := s.acceptedAudiences(&content.standardClaims, audiences)
	if err != nil {
		return nil, err
	}
	now := s.config.Now()
	if err := checkTimes(&content.standardClaims, now); err != nil {
		return nil, err
	}
	user, err := s.validate(ctx, &content)
	if err != nil {
		return nil, err
	}
	s.accepted(ctx, &content.standardClaims, content.Kubernetes.WarnAfter, now)
	return &registry.TokenIdentity{User: user, Audiences: accepted}, nil
}

func serviceAccountGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

func userNameOf(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}
