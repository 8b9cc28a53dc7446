package registry_test

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
)

func selector(t *testing.T, text string) labels.Selector {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fieldSelector(t *testing.T, text string) fields.Selector {
	t.Helper()
	s, err := fields.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// namesOf returns the names of the entries in their order.
func namesOf(t *testing.T, entries []*storage.Entry) string {
	t.Helper()
	var out []string
	for _, entry := range entries {
		obj, err := entry.Object()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, registrytest.Meta(obj).GetName())
	}
	return strings.Join(out, " ")
}

func newPodsInTwoNamespaces(t *testing.T) *registrytest.Env {
	e := registrytest.New(t, nil)
	for _, pod := range []struct{ namespace, name, node string }{
		{"x", "a", "n1"}, {"x", "b", "n2"}, {"y", "a", "n1"}, {"y", "c", ""},
	} {
		obj := registrytest.NewPod(pod.name, pod.node)
		obj.Namespace = pod.namespace
		obj.Labels = map[string]string{"node": pod.node}
		e.Create("pods", obj)
	}
	return e
}

func TestListSelects(t *testing.T) {
	e := newPodsInTwoNamespaces(t)
	for _, c := range []struct{ rule, namespace, label, field, want string }{
		{"everything", "", "", "", "a b a c"},
		{"a namespace", "x", "", "", "a b"},
		{"an empty namespace", "z", "", "", ""},
		{"labels", "", "node=n1", "", "a a"},
		{"an inequality of labels", "", "node!=n1", "", "b c"},
		{"a name in a namespace", "y", "", "metadata.name=a", "a"},
		{"a name in all namespaces", "", "", "metadata.name=a", "a a"},
		{"an absent name", "y", "", "metadata.name=zz", ""},
		{"an invalid name", "y", "", "metadata.name=a/b", ""},
		{"an inequality of names", "x", "", "metadata.name!=a", "b"},
		{"a namespace by field", "", "", "metadata.namespace=y", "a c"},
		{"a namespace and a name by field", "", "", "metadata.namespace=y,metadata.name=c", "c"},
		{"a namespace by field that differs from the request", "x", "", "metadata.namespace=y", ""},
		{"a field of the kind", "", "", "spec.nodeName=n2", "b"},
		{"an empty field of the kind", "", "", "spec.nodeName=", "c"},
		{"a name and labels that do not match", "x", "node=n2", "metadata.name=a", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			page, err := e.Store("pods").List(t.Context(), registry.ListRequest{
				Namespace: c.namespace, Label: selector(t, c.label), Field: fieldSelector(t, c.field),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := namesOf(t, page.Entries); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if page.Revision != e.Revision() {
				t.Errorf("revision %d, want %d", page.Revision, e.Revision())
			}
		})
	}
}

func TestListByNameOfAClusterScopedKind(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("namespaces", registrytest.NewNamespace("a"))
	e.Create("namespaces", registrytest.NewNamespace("ab"))
	page, err := e.Store("namespaces").List(t.Context(), registry.ListRequest{Field: fieldSelector(t, "metadata.name=a")})
	if err != nil || namesOf(t, page.Entries) != "a" {
		t.Errorf("page %v, error %v", page, err)
	}
}

// The first list of an informer is one request, whatever its limit.
func TestListOfAnyVersionIgnoresTheLimit(t *testing.T) {
	e := newPodsInTwoNamespaces(t)
	for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchNotOlderThan} {
		page, err := e.Store("pods").List(t.Context(), registry.ListRequest{ResourceVersion: "0", ResourceVersionMatch: match, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOf(t, page.Entries); got != "a b a c" || page.Continue != "" || page.Remaining != nil {
			t.Errorf("match %q: got %s, continue %q", match, got, page.Continue)
		}
	}
}

// A page that begins after the object that a field selector names is empty.
func TestListByNameWithAContinueToken(t *testing.T) {
	e := newPodsInTwoNamespaces(t)
	first, err := e.Store("pods").List(t.Context(), registry.ListRequest{Namespace: "x", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "", "b": "b"} {
		page, err := e.Store("pods").List(t.Context(), registry.ListRequest{
			Namespace: "x", Field: fieldSelector(t, "metadata.name="+name), Continue: first.Continue,
		})
		if err != nil || namesOf(t, page.Entries) != want || page.Revision != first.Revision {
			t.Errorf("%s: page %v, error %v", name, page, err)
		}
	}
}

// continueToken returns a token for the page after pod x/a at the revision.
func continueToken(t *testing.T, revision int64) string {
	t.Helper()
	token, err := storage.EncodeContinue("/pods/x/a", "/pods/", revision)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestListErrors(t *testing.T) {
	env := newPodsInTwoNamespaces(t)
	first, err := env.Store("pods").List(t.Context(), registry.ListRequest{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	env.Create("configmaps", registrytest.NewConfigMap("c"))
	if _, err := env.Client.Compact(t.Context(), env.Revision(), clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	tooLarge := func(retryAfter int32) *metav1.StatusDetails {
		return &metav1.StatusDetails{RetryAfterSeconds: retryAfter, Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
		}}
	}
	current := registrytest.Meta(env.Get("configmaps", "x", "c")).GetResourceVersion()
	for _, c := range []struct {
		rule string
		req  registry.ListRequest
		want metav1.Status
	}{
		{
			"an invalid resourceVersion is a bad request", registry.ListRequest{ResourceVersion: "abc"},
			failureStatus(400, metav1.StatusReasonBadRequest, `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`, nil),
		},
		{
			"an exact future resourceVersion times out", registry.ListRequest{ResourceVersion: "99999999999", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
			failureStatus(504, metav1.StatusReasonTimeout, "Timeout: Too large resource version: 99999999999, current: "+current, tooLarge(1)),
		},
		{
			"a future minimum resourceVersion times out", registry.ListRequest{ResourceVersion: "99999999999", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
			failureStatus(504, metav1.StatusReasonTimeout, "Timeout: Too large resource version: 99999999999, current: "+current, tooLarge(1)),
		},
		{
			"an exact future resourceVersion of one object has no retryAfter", registry.ListRequest{
				Namespace: "x", Field: fieldSelector(t, "metadata.name=a"), ResourceVersion: "99999999999", ResourceVersionMatch: metav1.ResourceVersionMatchExact,
			},
			failureStatus(504, metav1.StatusReasonTimeout, "Timeout: Too large resource version: 99999999999, current: "+current, tooLarge(0)),
		},
		{
			"a continue token of a future revision times out", registry.ListRequest{Continue: continueToken(t, 99999999999)},
			failureStatus(504, metav1.StatusReasonTimeout, "Timeout: Too large resource version: 99999999999, current: "+current, tooLarge(1)),
		},
		{
			"a continue token excludes a resourceVersion", registry.ListRequest{Continue: first.Continue, ResourceVersion: first.Continue},
			failureStatus(400, metav1.StatusReasonBadRequest, "specifying resource version is not allowed when using continue", nil),
		},
		{
			"a compacted resourceVersion has expired", registry.ListRequest{ResourceVersion: "2", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
			failureStatus(410, metav1.StatusReasonExpired, "The resourceVersion for the provided list is too old.", nil),
		},
		{
			"an invalid continue token is a bad request", registry.ListRequest{Continue: "!"},
			failureStatus(400, metav1.StatusReasonBadRequest, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0", nil),
		},
		{
			"an invalid namespace is a bad request", registry.ListRequest{Namespace: "a/b"},
			failureStatus(400, metav1.StatusReasonBadRequest, `Namespace parameter invalid: "a/b": may not contain '/'`, nil),
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := env.Store("pods").List(t.Context(), c.req)
			wantStatus(t, err, c.want)
		})
	}
	t.Run("an expired continue token is replaced by an inconsistent one", func(t *testing.T) {
		_, err := env.Store("pods").List(t.Context(), registry.ListRequest{Limit: 1, Continue: first.Continue})
		got := statusOf(t, err)
		if got.Code != 410 || got.Reason != metav1.StatusReasonExpired || !strings.HasPrefix(got.Message, "The provided continue parameter is too old to display a consistent list result. You can start a new list") {
			t.Fatalf("got %v", got)
		}
		rest, err := env.Store("pods").List(t.Context(), registry.ListRequest{Continue: got.Continue})
		if err != nil || namesOf(t, rest.Entries) != "b a c" {
			t.Errorf("rest %v, error %v", rest, err)
		}
	})
}

func TestWatch(t *testing.T) {
	e := newPodsInTwoNamespaces(t)
	watcher, err := e.Store("pods").Watch(t.Context(), registry.ListRequest{
		Namespace: "x", Field: fieldSelector(t, "spec.nodeName=n1"), ResourceVersion: registrytest.Meta(e.Get("pods", "y", "c")).GetResourceVersion(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	e.Create("pods", registrytest.NewPod("d", "n2"))
	e.Create("pods", registrytest.NewPod("e", "n1"))
	update[*corev1.Pod](e, "pods", patch(registrytest.NewPod("e", ""), func(p *corev1.Pod) { p.Spec.NodeName = "n2" }))
	for _, want := range []watch.EventType{watch.Added, watch.Deleted} {
		event := <-watcher.Events()
		if event.Type != want || namesOf(t, []*storage.Entry{event.Entry}) != "e" {
			t.Errorf("got %v, want %v", event, want)
		}
	}
}

func TestWatchFromACompactedVersionHasExpired(t *testing.T) {
	e := newPodsInTwoNamespaces(t)
	if _, err := e.Client.Compact(t.Context(), e.Revision(), clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	store := e.Store("pods")
	watcher, err := store.Watch(t.Context(), registry.ListRequest{ResourceVersion: "1"})
	if err == nil {
		event := <-watcher.Events()
		watcher.Stop()
		err = store.Resource().EventError(event.Err)
	}
	wantStatus(t, err, failureStatus(410, metav1.StatusReasonExpired, "The resourceVersion for the provided watch is too old.", nil))
}

func TestPodDeletionCausesTwoEvents(t *testing.T) {
	e := registrytest.New(t, nil)
	pod := e.Create("pods", registrytest.NewPod("p", "")).(*corev1.Pod)
	watcher, err := e.Store("pods").Watch(t.Context(), registry.ListRequest{ResourceVersion: pod.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	if _, err := e.Store("pods").Delete(t.Context(), deleteRequest("p", nil)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []watch.EventType{watch.Modified, watch.Deleted} {
		event := <-watcher.Events()
		obj, err := event.Entry.Object()
		if err != nil || event.Type != want || registrytest.Meta(obj).GetDeletionTimestamp() == nil {
			t.Errorf("got %v of %v, want %v", event.Type, obj, want)
		}
	}
}
