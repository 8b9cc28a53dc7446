package authorization

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// readers is an authorizer that allows the group readers to get objects.
type readers struct{}

func (readers) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	if access.User.Username == "broken" {
		return registry.Decision{}, errors.New("no rules")
	}
	for _, group := range access.User.Groups {
		if group == "readers" && access.Resource != nil && access.Resource.Verb == "get" {
			return registry.Decision{Allowed: true, Reason: "readers get"}, nil
		}
	}
	return registry.Decision{}, nil
}

func (readers) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return registry.RuleSet{
		Resource:   []authorizationv1.ResourceRule{{Verbs: []string{"get"}}},
		Incomplete: true,
	}, nil
}

func create(t *testing.T, ctx context.Context, resource, namespace string, obj runtime.Object) (runtime.Object, error) {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{Authorizer: readers{}})
	if err := catalog.Add(Resources(feature.Default())...); err != nil {
		t.Fatal(err)
	}
	store, ok := catalog.Snapshot().Served(authorizationv1.SchemeGroupVersion.WithResource(resource))
	if !ok {
		t.Fatalf("there is no store of %s", resource)
	}
	result, err := store.Create(ctx, registry.CreateRequest{Namespace: namespace, Object: obj})
	return registrytest.Object(result.Entry), err
}

func getPods(namespace string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "get", Resource: "pods"}
}

func TestSubjectsAreReviewedByTheAuthorizer(t *testing.T) {
	cases := []struct {
		name string
		spec authorizationv1.SubjectAccessReviewSpec
		want authorizationv1.SubjectAccessReviewStatus
	}{
		{"allowed, with the reason",
			authorizationv1.SubjectAccessReviewSpec{Groups: []string{"readers"}, ResourceAttributes: getPods("demo")},
			authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "readers get"}},
		{"not allowed is not denied",
			authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: getPods("demo")},
			authorizationv1.SubjectAccessReviewStatus{}},
		{"an error is part of the answer",
			authorizationv1.SubjectAccessReviewSpec{User: "broken", NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/"}},
			authorizationv1.SubjectAccessReviewStatus{EvaluationError: "no rules"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			obj, err := create(t, t.Context(), "subjectaccessreviews", "", &authorizationv1.SubjectAccessReview{Spec: c.spec})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, obj.(*authorizationv1.SubjectAccessReview).Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsersReviewThemselves(t *testing.T) {
	ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane", Groups: []string{"readers"}})
	obj, err := create(t, ctx, "selfsubjectaccessreviews", "", &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: getPods("demo")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !obj.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed {
		t.Error("the user's groups did not count")
	}

	obj, err = create(t, ctx, "selfsubjectrulesreviews", "", &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "demo"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: []string{"get"}}},
		NonResourceRules: []authorizationv1.NonResourceRule{},
		Incomplete:       true,
	}}
	if diff := cmp.Diff(want, obj); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestLocalReviewsAreLimitedToTheirNamespace(t *testing.T) {
	obj, err := create(t, t.Context(), "localsubjectaccessreviews", "demo", &authorizationv1.LocalSubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{Groups: []string{"readers"}, ResourceAttributes: getPods("demo")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !obj.(*authorizationv1.LocalSubjectAccessReview).Status.Allowed {
		t.Error("not allowed")
	}
}

func TestInvalidReviewsAreRejected(t *testing.T) {
	nonResource := &authorizationv1.NonResourceAttributes{Path: "/"}
	named := metav1.ObjectMeta{Name: "n"}
	cases := []struct {
		name, resource, namespace string
		obj                       runtime.Object
		code                      int32
		message                   string
	}{
		{"an empty spec", "subjectaccessreviews", "", &authorizationv1.SubjectAccessReview{}, 422,
			`.authorization.k8s.io "" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]`},
		{"resource and path together", "selfsubjectaccessreviews", "",
			&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: getPods(""), NonResourceAttributes: nonResource}}, 422,
			`.authorization.k8s.io "" is invalid: spec: Invalid value: {"Path":"/","Verb":""}: exactly one of nonResourceAttributes or resourceAttributes must be specified`},
		{"a name", "selfsubjectaccessreviews", "",
			&authorizationv1.SelfSubjectAccessReview{ObjectMeta: named, Spec: authorizationv1.SelfSubjectAccessReviewSpec{NonResourceAttributes: nonResource}}, 422,
			`.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"n"}: must be empty`},
		{"another namespace", "localsubjectaccessreviews", "demo",
			&authorizationv1.LocalSubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: getPods("other")}}, 422,
			`.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`},
		{"a path in a namespace", "localsubjectaccessreviews", "demo",
			&authorizationv1.LocalSubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "jane", NonResourceAttributes: nonResource}}, 422,
			`.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request`},
		{"rules without a user", "selfsubjectrulesreviews", "", &authorizationv1.SelfSubjectRulesReview{}, 400, "no user present on request"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			obj, err := create(t, t.Context(), c.resource, c.namespace, c.obj)
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				t.Fatalf("got %v, %v; want a status", obj, err)
			}
			if got := status.Status(); got.Code != c.code || got.Message != c.message {
				t.Errorf("got %d %s\nwant %d %s", got.Code, got.Message, c.code, c.message)
			}
		})
	}
}
