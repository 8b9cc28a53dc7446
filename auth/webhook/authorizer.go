package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	authorizationv1beta1 "k8s.io/api/authorization/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"

	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/registry"
)

// maxCachedAttributes is the size of the attributes beyond which answers are not cached, because
// the client controls them.
const maxCachedAttributes = 10000

// AuthorizerConfig configures an Authorizer. Dialer and Metrics are required.
type AuthorizerConfig struct {
	// Name is the name of the authorizer in metrics.
	Name string
	// Webhook must be valid.
	Webhook apiserver.WebhookConfiguration
	// Dialer has the connections.
	Dialer  *outgoing.Dialer
	Metrics *Metrics
}

// Authorizer sends SubjectAccessReviews. It is safe for concurrent use.
type Authorizer struct {
	name    string
	config  apiserver.WebhookConfiguration
	metrics *Metrics
	client  *Client
	matcher *authorizationcel.CELMatcher // nil matches all requests
	cache   *cache.LRUExpireCache        // of authorizationv1.SubjectAccessReviewStatus
}

var _ registry.Authorizer = (*Authorizer)(nil)

// NewAuthorizer loads the kubeconfig of a valid configuration. It sends nothing.
func NewAuthorizer(authorizer AuthorizerConfig) (*Authorizer, error) {
	config := authorizer.Webhook
	if err := validateVersion("webhook authorizer", config.SubjectAccessReviewVersion); err != nil {
		return nil, err
	}
	a := &Authorizer{
		name: authorizer.Name, config: config, metrics: authorizer.Metrics, cache: cache.NewLRUExpireCache(cacheSize),
	}
	if len(config.MatchConditions) > 0 {
		var errs error
		matcher, fieldErrs := validation.ValidateAndCompileMatchConditions(authorizationcel.NewDefaultCompiler(), config.MatchConditions)
		if errs = fieldErrs.ToAggregate(); len(fieldErrs) > 0 {
			return nil, errs
		}
		a.matcher = matcher
	}
	var err error
	a.client, err = NewClient(ClientConfig{
		Kubeconfig: *config.ConnectionInfo.KubeConfigFile, Timeout: config.Timeout.Duration, Dialer: authorizer.Dialer,
		Observe: func(ctx context.Context, took time.Duration, err error) { a.metrics.request(ctx, a.name, took, err) },
	})
	return a, err
}

// CloseIdleConnections closes the connections that no request uses.
func (a *Authorizer) CloseIdleConnections() { a.client.CloseIdleConnections() }

// Authorize implements registry.Authorizer. If the webhook cannot be called, the failure policy
// decides whether the request is denied.
func (a *Authorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	review := reviewOf(access)
	if a.matcher != nil {
		matches, err := a.matcher.Eval(ctx, review)
		if err != nil {
			return a.failed(), err
		}
		if !matches {
			return registry.Decision{}, nil
		}
	}
	status, err := a.status(ctx, review)
	if err != nil {
		if a.config.FailurePolicy != apiserver.FailurePolicyDeny {
			a.metrics.failedOpen(ctx, a.name, err)
		}
		return a.failed(), err
	}
	decision := registry.Decision{Allowed: status.Allowed && !status.Denied, Denied: status.Denied, Reason: status.Reason}
	if status.Allowed && status.Denied {
		return decision, errors.New("webhook subject access review returned both allow and deny response")
	}
	return decision, nil
}

func (a *Authorizer) failed() registry.Decision {
	return registry.Decision{Denied: a.config.FailurePolicy == apiserver.FailurePolicyDeny}
}

// Rules implements registry.Authorizer. A webhook has no rules.
func (a *Authorizer) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return registry.RuleSet{Incomplete: true}, errors.New("webhook authorizer does not support user rule resolution")
}

func reviewOf(access registry.Access) *authorizationv1.SubjectAccessReview {
	review := &authorizationv1.SubjectAccessReview{}
	if user := access.User; user != nil {
		review.Spec.User, review.Spec.UID, review.Spec.Groups = user.Username, user.UID, user.Groups
		for key, values := range user.Extra {
			if review.Spec.Extra == nil {
				review.Spec.Extra = map[string]authorizationv1.ExtraValue{}
			}
			review.Spec.Extra[key] = authorizationv1.ExtraValue(values)
		}
	}
	review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes = withRequirements(access.Resource), access.NonResource
	return review
}

// status returns the status of a review, also from the cache.
func (a *Authorizer) status(ctx context.Context, review *authorizationv1.SubjectAccessReview) (authorizationv1.SubjectAccessReviewStatus, error) {
	key, err := json.Marshal(review.Spec)
	if err != nil {
		return authorizationv1.SubjectAccessReviewStatus{}, err
	}
	if cached, ok := a.cache.Get(string(key)); ok {
		return cached.(authorizationv1.SubjectAccessReviewStatus), nil
	}
	status, err := a.call(ctx, review)
	if err != nil {
		return status, err
	}
	if ttl := a.lifetime(status); ttl > 0 && sizeOf(review.Spec) < maxCachedAttributes {
		a.cache.Add(string(key), status, ttl)
	}
	return status, nil
}

// lifetime returns how long an answer is cached.
func (a *Authorizer) lifetime(status authorizationv1.SubjectAccessReviewStatus) time.Duration {
	switch {
	case status.Allowed && a.config.CacheAuthorizedRequests:
		return a.config.AuthorizedTTL.Duration
	case !status.Allowed && a.config.CacheUnauthorizedRequests:
		return a.config.UnauthorizedTTL.Duration
	}
	return 0
}

// call sends the review in the configured version.
func (a *Authorizer) call(ctx context.Context, review *authorizationv1.SubjectAccessReview) (authorizationv1.SubjectAccessReviewStatus, error) {
	kind := authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview")
	kind.Version = a.config.SubjectAccessReviewVersion
	meta := metav1.TypeMeta{Kind: kind.Kind, APIVersion: kind.GroupVersion().String()}
	var sent any
	if kind.Version == V1beta1 {
		sent = reviewV1beta1(meta, review.Spec)
	} else {
		sent = authorizationv1.SubjectAccessReview{TypeMeta: meta, Spec: review.Spec}
	}
	var answer struct { // the JSON of the status is the same in both versions
		Status authorizationv1.SubjectAccessReviewStatus `json:"status"`
	}
	err := a.client.review(ctx, kind, sent, &answer)
	return answer.Status, err
}

func reviewV1beta1(meta metav1.TypeMeta, spec authorizationv1.SubjectAccessReviewSpec) authorizationv1beta1.SubjectAccessReview {
	out := authorizationv1beta1.SubjectAccessReview{TypeMeta: meta, Spec: authorizationv1beta1.SubjectAccessReviewSpec{
		User: spec.User, Groups: spec.Groups, UID: spec.UID,
		ResourceAttributes:    (*authorizationv1beta1.ResourceAttributes)(spec.ResourceAttributes),
		NonResourceAttributes: (*authorizationv1beta1.NonResourceAttributes)(spec.NonResourceAttributes),
	}}
	for key, values := range spec.Extra {
		if out.Spec.Extra == nil {
			out.Spec.Extra = map[string]authorizationv1beta1.ExtraValue{}
		}
		out.Spec.Extra[key] = authorizationv1beta1.ExtraValue(values)
	}
	return out
}

// sizeOf returns the size of the attributes that a client controls.
func sizeOf(spec authorizationv1.SubjectAccessReviewSpec) int {
	if r := spec.ResourceAttributes; r != nil {
		return len(r.Namespace) + len(r.Verb) + len(r.Group) + len(r.Version) + len(r.Resource) + len(r.Subresource) + len(r.Name)
	}
	return len(spec.NonResourceAttributes.Verb) + len(spec.NonResourceAttributes.Path)
}
