package registry_test

import (
	"context"
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// componentStatuses returns a virtual resource whose objects are computed.
func componentStatuses() *registry.Resource {
	all := func() []runtime.Object {
		return []runtime.Object{
			&corev1.ComponentStatus{ObjectMeta: metav1.ObjectMeta{Name: "etcd-0", Labels: map[string]string{"a": "b"}}},
			&corev1.ComponentStatus{ObjectMeta: metav1.ObjectMeta{Name: "scheduler"}},
		}
	}
	return &registry.Resource{Name: "componentstatuses", Kind: "ComponentStatus", Versions: []registry.Version{{Name: "v1"}}, Virtual: &registry.Virtual{
		List: func(context.Context, *registry.Catalog) ([]runtime.Object, error) { return all(), nil },
		Get: func(_ context.Context, _ *registry.Catalog, name string) (runtime.Object, error) {
			return all()[0], nil
		},
	}}
}

// accessReviews returns a virtual resource whose objects can only be created.
func accessReviews() *registry.Resource {
	return &registry.Resource{Group: "authorization.k8s.io", Name: "localsubjectaccessreviews", Kind: "LocalSubjectAccessReview", Namespaced: true, Versions: []registry.Version{{Name: "v1"}}, Virtual: &registry.Virtual{
		Create: func(_ context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
			if err := req.Validate(); err != nil {
				return nil, err
			}
			review := req.Object.(*authorizationv1.LocalSubjectAccessReview)
			decision, err := catalog.Authorizer().Authorize(context.Background(), registry.Access{})
			review.Status.Allowed = decision.Allowed
			return review, err
		},
	}}
}

func TestVirtualResources(t *testing.T) {
	j := &journal{}
	env := registrytest.New(t, j.steps(), componentStatuses(), accessReviews())
	store := env.Served("componentstatuses")
	t.Run("list selects among the computed objects", func(t *testing.T) {
		for selected, want := range map[string]string{"": "etcd-0 scheduler", "a=b": "etcd-0"} {
			page, err := store.List(t.Context(), registry.ListRequest{Label: selector(t, selected)})
			if err != nil || namesOf(t, page.Entries) != want || page.Revision != 0 {
				t.Errorf("page %v, error %v", page, err)
			}
		}
	})
	t.Run("get returns the computed object", func(t *testing.T) {
		entry, err := store.Get(t.Context(), "", "etcd-0", "")
		if err != nil || entry.Key != "etcd-0" || entry.Revision != 0 {
			t.Errorf("entry %v, error %v", entry, err)
		}
	})
	t.Run("create runs admission", func(t *testing.T) {
		j.lines = nil
		result, err := env.Served("localsubjectaccessreviews.authorization.k8s.io").Create(t.Context(), registry.CreateRequest{
			Namespace: "x", Object: &authorizationv1.LocalSubjectAccessReview{},
		})
		if err != nil {
			t.Fatal(err)
		}
		review := registrytest.Object(result.Entry).(*authorizationv1.LocalSubjectAccessReview)
		if !review.Status.Allowed || review.Namespace != "x" || !result.Created {
			t.Errorf("review %v", review)
		}
		j.expect(t, "admit CREATE ", "admission validates CREATE ")
	})
	t.Run("other verbs are rejected", func(t *testing.T) {
		_, created := store.Create(t.Context(), registry.CreateRequest{Object: &corev1.ComponentStatus{}})
		_, updated := store.Update(t.Context(), put(&corev1.ComponentStatus{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
		_, deleted := store.Delete(t.Context(), deleteRequest("a", nil))
		_, collection := store.DeleteCollection(t.Context(), deleteRequest("", nil), registry.ListRequest{})
		_, watched := store.Watch(t.Context(), registry.ListRequest{})
		for verb, err := range map[string]error{"create": created, "update": updated, "delete": deleted, "deletecollection": collection, "watch": watched} {
			if statusOf(t, err).Code != 405 {
				t.Errorf("%s: %v", verb, err)
			}
		}
	})
}

func TestSubresourceActions(t *testing.T) {
	j := &journal{}
	pods := registrytest.Pods()
	unreachable := errors.New("no node")
	pods.Subresources = []registry.Subresource{
		{Name: "eviction", Create: func(ctx context.Context, s *registry.Store, req registry.ActionRequest) (runtime.Object, error) {
			if err := req.Validate(); err != nil {
				return nil, err
			}
			_, err := s.Delete(ctx, registry.DeleteRequest{Namespace: req.Namespace, Name: req.Name})
			return &metav1.Status{Status: metav1.StatusSuccess}, err
		}},
		{
			Name:    "exec",
			New:     func() runtime.Object { return &corev1.PodExecOptions{} },
			Connect: func(context.Context, *registry.Store, registry.ConnectRequest) error { return unreachable },
		},
		{Name: "log", Connect: func(context.Context, *registry.Store, registry.ConnectRequest) error { return unreachable }},
	}
	e := registrytest.New(t, j.steps(), pods)
	e.Create("pods", registrytest.NewPod("p", ""))
	store := e.Store("pods")
	j.lines = nil

	if err := store.Connect(t.Context(), "exec", registry.ConnectRequest{Namespace: "x", Name: "p"}); !errors.Is(err, unreachable) {
		t.Errorf("got %v", err)
	}
	j.expect(t, "admit CONNECT exec", "admission validates CONNECT exec")
	if err := store.Connect(t.Context(), "log", registry.ConnectRequest{Namespace: "x", Name: "p"}); !errors.Is(err, unreachable) {
		t.Errorf("got %v", err)
	}
	j.expect(t) // a read has no admission

	eviction := registry.CreateRequest{Namespace: "x", Name: "p", Object: &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "y"}}}
	_, err := store.CreateSubresource(t.Context(), "eviction", eviction)
	wantMessage(t, err, 400, "the namespace of the provided object does not match the namespace sent on the request")
	eviction.Object = &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	if _, err := store.CreateSubresource(t.Context(), "eviction", eviction); err != nil || !isAbsent(e, "pods", "x", "p") {
		t.Errorf("got %v", err)
	}
	j.expect(t, "admit CREATE eviction", "admission validates CREATE eviction")

	for _, name := range []string{"exec", "none"} {
		if _, err := store.CreateSubresource(t.Context(), name, eviction); statusOf(t, err).Code != 405 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := store.GetSubresource(t.Context(), "x", "p", name); statusOf(t, err).Code != 405 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGetSubresource(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("deployments.apps", registrytest.NewDeployment("d"))
	got, err := e.Store("deployments.apps").GetSubresource(t.Context(), "x", "d", "status")
	if err != nil || registrytest.Meta(registrytest.Object(got)).GetName() != "d" {
		t.Errorf("got %v, error %v", got, err)
	}
	_, err = e.Store("deployments.apps").GetSubresource(t.Context(), "x", "absent", "status")
	wantStatus(t, err, failureStatus(404, metav1.StatusReasonNotFound, `deployments.apps "absent" not found`, detailsOf("apps", "deployments", "absent")))
}

func TestInvalidNamesAreRejected(t *testing.T) {
	e := registrytest.New(t, nil)
	for _, c := range []struct{ rule, namespace, name, want string }{
		{"a slash in a name", "x", "a/b", `Name parameter invalid: "a/b": may not contain '/'`},
		{"the parent directory as a name", "x", "..", `Name parameter invalid: "..": may not be '..'`},
		{"a slash in a namespace", "x/y", "a", `Namespace parameter invalid: "x/y": may not contain '/'`},
		{"no name", "x", "", "Name parameter required."},
		{"no namespace", "", "a", "Namespace parameter required."},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := e.Store("configmaps").Get(t.Context(), c.namespace, c.name, "")
			wantMessage(t, err, 400, c.want)
		})
	}
}

func TestCorruptObjects(t *testing.T) {
	e := registrytest.New(t, nil)
	if _, err := e.Client.Put(t.Context(), "/registry/configmaps/x/c", "k8s\x00 no protobuf"); err != nil {
		t.Fatal(err)
	}
	store := e.Store("configmaps")
	_, updated := store.Update(t.Context(), patch(registrytest.NewConfigMap("c"), increment("n")))
	_, deleted := store.Delete(t.Context(), deleteRequest("c", nil))
	_, listed := store.List(t.Context(), registry.ListRequest{Namespace: "x", Label: selector(t, "a=b")})
	for _, c := range []struct {
		verb string
		err  error
		want metav1.StatusReason
	}{
		{"update", updated, ""},
		{"delete", deleted, metav1.StatusReasonInternalError},
		{"list", listed, metav1.StatusReasonStoreReadError},
	} {
		if got := statusOf(t, c.err); got.Code != 500 || got.Reason != c.want {
			t.Errorf("%s: %v", c.verb, c.err)
		}
	}
}

func TestSnapshotsOfTheCatalogDoNotChange(t *testing.T) {
	e := registrytest.New(t, nil)
	before := e.Catalog.Snapshot()
	if err := e.Catalog.Add(componentStatuses(), registrytest.Pods()); err == nil {
		t.Fatal("pods were added twice")
	}
	if e.Catalog.Snapshot() != before {
		t.Error("a failed Add changed the catalog")
	}
	if err := e.Catalog.Add(accessReviews()); err != nil {
		t.Fatal(err)
	}
	after := e.Catalog.Snapshot()
	if _, ok := after.Served(schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "localsubjectaccessreviews"}); !ok || after.Generation != before.Generation+1 {
		t.Error("the snapshot lacks the new resource")
	}
	pods := e.Store("pods").Resource()
	if err := e.Catalog.Replace([]*registry.Resource{pods}, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := after.Store(schema.GroupResource{Resource: "pods"}); !ok {
		t.Error("a snapshot changed")
	}
	if _, ok := e.Catalog.Snapshot().Store(schema.GroupResource{Resource: "pods"}); ok {
		t.Error("the catalog still has pods")
	}
}
