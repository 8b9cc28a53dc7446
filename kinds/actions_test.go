package kinds_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

var errRefused = errors.New("validating admission refuses")

// actions are requests for all actions that store no object of their own. Validating admission
// refuses all of them; want is the error of kube-apiserver.
var actions = []struct {
	rule, resource, subresource, name string
	body                              runtime.Object
	user                              *authenticationv1.UserInfo
	want                              string
}{
	{"a binding", "pods", "binding", "none", bindingTo("none", "n"), nil, errRefused.Error()},
	{"a binding of another name", "pods", "binding", "none", bindingTo("other", "n"), nil, "name in URL does not match name in Binding object"},
	{"a binding without a node", "pods", "binding", "none", bindingTo("none", ""), nil, "target.name: Required value"},
	{"an old binding", "bindings", "", "", bindingTo("none", "n"), nil, errRefused.Error()},
	{"an old binding without a node", "bindings", "", "", bindingTo("none", ""), nil, "target.name: Required value"},
	{"an eviction of a missing pod", "pods", "eviction", "none", evictionOf("none", nil), nil, errRefused.Error()},
	{"an eviction of another name", "pods", "eviction", "none", evictionOf("other", nil), nil, "name in URL does not match name in Eviction object"},
	{"an eviction with invalid options", "pods", "eviction", "none",
		evictionOf("none", &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletionPropagation("Never"))}), nil, errRefused.Error()},
	{"an eviction of a corrupt pod", "pods", "eviction", "none",
		evictionOf("none", &metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}), nil,
		`Eviction.policy "none" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can not be set for pod eviction, try after removing the option`},
	{"a token", "serviceaccounts", "token", "bot", &authenticationv1.TokenRequest{}, nil, errRefused.Error()},
	{"a token of another name", "serviceaccounts", "token", "bot", &authenticationv1.TokenRequest{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, nil,
		`TokenRequest.authentication.k8s.io "bot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified`},
	{"a token of a missing account", "serviceaccounts", "token", "none", &authenticationv1.TokenRequest{}, nil, `serviceaccounts "none" not found`},
	{"a token of an earlier account", "serviceaccounts", "token", "bot", &authenticationv1.TokenRequest{ObjectMeta: metav1.ObjectMeta{UID: "old"}}, nil,
		`Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "bot": the UID in the token request (old) does not match the UID of the service account (bot-uid)`},
	{"a token that is too short", "serviceaccounts", "token", "bot", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(1))}}, nil,
		`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes`},
	{"a token of a missing pod", "serviceaccounts", "token", "bot", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "none"}}}, nil, errRefused.Error()},
	{"an access review", "subjectaccessreviews.authorization.k8s.io", "", "", &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "u", ResourceAttributes: &authorizationv1.ResourceAttributes{}}}, nil, errRefused.Error()},
	{"an empty access review", "subjectaccessreviews.authorization.k8s.io", "", "", &authorizationv1.SubjectAccessReview{}, nil,
		`.authorization.k8s.io "" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]`},
	{"a local access review", "localsubjectaccessreviews.authorization.k8s.io", "", "", &authorizationv1.LocalSubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "u", ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default"}}}, nil, errRefused.Error()},
	{"a local access review of another namespace", "localsubjectaccessreviews.authorization.k8s.io", "", "", &authorizationv1.LocalSubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: "u", ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "other"}}}, nil,
		`.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`},
	{"an access review of the user", "selfsubjectaccessreviews.authorization.k8s.io", "", "", &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{}}}, &authenticationv1.UserInfo{Username: "u"}, errRefused.Error()},
	{"an access review without a user", "selfsubjectaccessreviews.authorization.k8s.io", "", "", &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{}}}, nil, "no user present on request"},
	{"a rules review", "selfsubjectrulesreviews.authorization.k8s.io", "", "", &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, &authenticationv1.UserInfo{Username: "u"}, errRefused.Error()},
	{"a rules review without a namespace", "selfsubjectrulesreviews.authorization.k8s.io", "", "", &authorizationv1.SelfSubjectRulesReview{},
		&authenticationv1.UserInfo{Username: "u"}, "no namespace on request"},
	{"a token review", "tokenreviews.authentication.k8s.io", "", "", &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "t"}}, nil, errRefused.Error()},
	{"a token review without a token", "tokenreviews.authentication.k8s.io", "", "", &authenticationv1.TokenReview{}, nil, "token is required for TokenReview in authentication"},
	{"a review of no user", "selfsubjectreviews.authentication.k8s.io", "", "", &authenticationv1.SelfSubjectReview{}, nil, errRefused.Error()},
}

func bindingTo(pod, node string) *corev1.Binding {
	return &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod}, Target: corev1.ObjectReference{Name: node}}
}

func evictionOf(pod string, options *metav1.DeleteOptions) *policyv1.Eviction {
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod}, DeleteOptions: options}
}

// TestActionsValidateBeforeAdmission checks that the errors of an action which kube-apiserver finds
// before validating admission come before those of admission.
func TestActionsValidateBeforeAdmission(t *testing.T) {
	env, uid := newActionEnv(t, func(*registry.Attributes) error { return errRefused })
	for _, c := range actions {
		t.Run(c.rule, func(t *testing.T) {
			err := act(registry.WithUser(t.Context(), c.user), env, c.resource, c.subresource, c.name, c.body.DeepCopyObject())
			if err == nil || strings.ReplaceAll(err.Error(), uid, "bot-uid") != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// TestActionsRunValidatingAdmission checks that the table has a request for every action that
// reaches validating admission.
func TestActionsRunValidatingAdmission(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range actions {
		if c.want == errRefused.Error() {
			covered[c.resource+"/"+c.subresource] = true
		}
	}
	for _, r := range kinds.Resources(feature.Default()) {
		name := r.GroupResource().String() + "/"
		if r.Virtual != nil && r.Virtual.Create != nil && !covered[name] {
			t.Errorf("no request for %s", name)
		}
		for _, sub := range r.Subresources {
			if sub.Create != nil && !covered[name+sub.Name] {
				t.Errorf("no request for %s%s", name, sub.Name)
			}
		}
	}
}

func TestTokenRequestInAdmission(t *testing.T) {
	var admitted *authenticationv1.TokenRequest
	env, uid := newActionEnv(t, func(a *registry.Attributes) error {
		admitted = a.Object.(*authenticationv1.TokenRequest)
		return errRefused
	})
	body := &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "forged"}}
	if err := act(t.Context(), env, "serviceaccounts", "token", "bot", body); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	if m := admitted.ObjectMeta; m.Name != "bot" || m.Namespace != "default" || string(m.UID) != uid || m.CreationTimestamp.IsZero() || admitted.Status.Token != "" {
		t.Errorf("admission receives %v, want the metadata of the account and no status", admitted)
	}
}

// newActionEnv returns an environment with the service account bot and its UID. validate is the
// validating admission of all actions.
func newActionEnv(t *testing.T, validate func(*registry.Attributes) error) (env *registrytest.Env, uid string) {
	t.Helper()
	step := registry.AdmissionStep{Name: "Test", Validate: func(_ context.Context, a *registry.Attributes) error {
		if a.Resource.Name == "serviceaccounts" && a.Subresource == "" {
			return nil
		}
		return validate(a)
	}}
	env = registrytest.New(t, registry.Chain{step}, kinds.Resources(feature.Default())...)
	account := env.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot", Namespace: "default"}})
	return env, string(registrytest.Meta(account).GetUID())
}

// act posts a body to a resource or a subresource in the namespace default.
func act(ctx context.Context, env *registrytest.Env, resource, subresource, name string, body runtime.Object) error {
	served := env.Served(resource)
	req := registry.CreateRequest{Name: name, Object: body}
	if served.Resource().Namespaced {
		req.Namespace = "default"
	}
	if subresource == "" {
		_, err := served.Create(ctx, req)
		return err
	}
	if sub, ok := served.Resource().Subresource(subresource); ok && sub.Default != nil {
		sub.Default(body)
	}
	_, err := served.CreateSubresource(ctx, subresource, req)
	return err
}
