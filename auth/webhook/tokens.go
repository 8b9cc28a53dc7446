package webhook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/registry"
)

// TokenConfig names the server that authenticates tokens. The zero value names none.
type TokenConfig struct {
	// ConfigFile is a kubeconfig with the server and the credentials for it.
	ConfigFile string
	// Version is the version of the TokenReviews, v1 or v1beta1. Default: v1beta1, as in
	// kube-apiserver.
	Version string
	// CacheTTL is how long answers are cached. Default: 2 minutes; negative: not at all.
	CacheTTL time.Duration
}

// TokensConfig configures Tokens.
type TokensConfig struct {
	TokenConfig
	// Audiences are the audiences of the server.
	Audiences []string
	// Timeout limits a request. Default: 30 s.
	Timeout time.Duration
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
}

// Validate returns all errors of the configuration, nil if it is valid. It loads the file.
func (c TokenConfig) Validate() error {
	if c.ConfigFile == "" {
		return nil
	}
	_, err := NewTokens(TokensConfig{TokenConfig: c})
	return err
}

// Tokens authenticates tokens. It is safe for concurrent use.
type Tokens struct {
	config TokenConfig
	own    []string
	client *Client
	dialer *outgoing.Dialer
	cache  *cache.LRUExpireCache // of *authenticationv1.TokenReviewStatus
}

// NewTokens loads the configuration. It sends nothing. The caller must call Close.
func NewTokens(config TokensConfig) (*Tokens, error) {
	config.Version = cmp.Or(config.Version, V1beta1)
	config.CacheTTL = cmp.Or(config.CacheTTL, 2*time.Minute)
	if err := validateVersion("authentication webhook", config.Version); err != nil {
		return nil, err
	}
	dialer := outgoing.NewDialer(config.Outgoing)
	client, err := NewClient(ClientConfig{Kubeconfig: config.ConfigFile, Timeout: config.Timeout, Dialer: dialer})
	if err != nil {
		return nil, err
	}
	return &Tokens{config.TokenConfig, config.Audiences, client, dialer, cache.NewLRUExpireCache(cacheSize)}, nil
}

// Close closes all connections. No token may be identified afterwards.
func (t *Tokens) Close() { t.dialer.Close() }

// Identify returns the user of a token and which of the audiences it is valid for. It returns nil
// and no error for a token that the webhook does not accept.
func (t *Tokens) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	status, err := t.status(ctx, token, audiences)
	if err != nil {
		return nil, err
	}
	valid := status.Audiences
	if len(valid) == 0 {
		valid = t.own
	}
	accepted := slices.DeleteFunc(slices.Clone(audiences), func(audience string) bool { return !slices.Contains(valid, audience) })
	switch {
	case len(accepted) == 0:
		return nil, nil
	case !status.Authenticated && status.Error != "":
		return nil, errors.New(status.Error)
	case !status.Authenticated:
		return nil, nil
	}
	return &registry.TokenIdentity{User: status.User.DeepCopy(), Audiences: accepted}, nil
}

// status returns the status of a TokenReview, also from the cache. Errors are not cached.
func (t *Tokens) status(ctx context.Context, token string, audiences []string) (*authenticationv1.TokenReviewStatus, error) {
	spec := authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}
	content, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(content) // the cache does not hold tokens
	if cached, ok := t.cache.Get(key); ok {
		return cached.(*authenticationv1.TokenReviewStatus), nil
	}
	// The JSON of v1 and v1beta1 is the same.
	kind := authenticationv1.SchemeGroupVersion.WithKind("TokenReview")
	kind.Version = t.config.Version
	review := authenticationv1.TokenReview{Spec: spec}
	review.TypeMeta = metav1.TypeMeta{Kind: kind.Kind, APIVersion: kind.GroupVersion().String()}
	var answer authenticationv1.TokenReview
	if err := t.client.review(ctx, kind, review, &answer); err != nil {
		return nil, err
	}
	if answer.Status.Error == "" && t.config.CacheTTL > 0 {
		t.cache.Add(key, &answer.Status, t.config.CacheTTL)
	}
	return &answer.Status, nil
}
