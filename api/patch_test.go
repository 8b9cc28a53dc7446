package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/memory"
)

// podCall returns a call for pods, with a store in memory.
func podCall(tb testing.TB) *call {
	tb.Helper()
	i := slices.IndexFunc(kinds.Resources(feature.Default()), func(r *registry.Resource) bool { return r.Kind == "Pod" })
	resource := kinds.Resources(feature.Default())[i]
	version, _ := resource.Version("v1")
	catalog := registry.NewCatalog(registry.CatalogConfig{
		Types:   kinds.Types(),
		Storage: func(codec storage.Codec) storage.Interface { return memory.New(memory.Config{Codec: codec}) },
	})
	if err := catalog.Add(resource); err != nil {
		tb.Fatal(err)
	}
	store, _ := catalog.Snapshot().Store(resource.GroupResource())
	return &call{
		store:    store,
		server:   &Server{responder: encoding.NewResponder(encoding.Config{Scheme: kinds.Scheme()})},
		r:        httptest.NewRequest("PATCH", "/", nil),
		resource: resource, version: version,
	}
}

// strategicpatch panics if a merge key is a map.
func TestStrategicPatchWithMapAsMergeKey(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	p := &patch{call: podCall(t), data: []byte(`{"spec":{"containers":[{"name":{}}]}}`)}
	if _, _, err := p.applyStrategic(pod); !apierrors.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
}

// A patch of any type results in an object of the kind or in an error, and does not change the
// current state.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"copy","from":"/spec","path":"/spec/x"}]`,
		`[{"op":"move","from":"","path":"/metadata/name"},{"op":"test"}]`,
		`[{"op":"add","path":"/spec/containers/-","value":null},{"op":"remove","path":"/spec/containers/-1"}]`,
		`{"spec":{"containers":[{"name":"c","$patch":"delete"}]},"metadata":{"$retainKeys":["name"],"finalizers":null}}`,
		`{"spec":{"$setElementOrder/containers":[{"name":"d"}],"containers":[{"$patch":"replace"}]}}`,
		`{"spec":{"containers":[{"name":{}}]}}`,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {b: c}}\nspec:\n  containers: [{name: c, image: &i j}, {name: d, image: *i}]\n",
		`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":1}}}]}}`,
		"\xd9\xd9\xf7\xa3\x4aapiVersion\x42v1\x44kind\x43Pod\x44spec\xa1\x4acontainers\x81\xa2\x44name\x41c\x45image\x41j",
		`null`, ``, `[]`,
	} {
		f.Add(seed)
	}
	c, table := podCall(f), patchTypesOf(Config{CBOR: true})
	f.Fuzz(func(t *testing.T, data string) {
		for _, patchType := range table {
			if err := patchType.check([]byte(data)); err != nil {
				if !apierrors.IsBadRequest(err) && !apierrors.IsRequestEntityTooLargeError(err) {
					t.Errorf("%s: %v is neither 400 nor 413", patchType.contentType, err)
				}
				continue
			}
			for _, validation := range []string{metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
				pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
				p := &patch{call: c, data: []byte(data), options: writeOptions{
					WriteOptions:    registry.WriteOptions{FieldManager: "m", Version: "v1"},
					fieldValidation: validation, force: validation == metav1.FieldValidationStrict,
				}}
				got, err := patchType.propose(p, t.Context(), pod)
				if _, ok := got.(*corev1.Pod); err == nil && !ok {
					t.Errorf("%s returned a %T", patchType.contentType, got)
				}
				if len(pod.Spec.Containers) != 1 || pod.Spec.Containers[0].Image != "i" {
					t.Errorf("%s changed the current state: %v", patchType.contentType, pod.Spec.Containers)
				}
			}
		}
	})
}

func TestStrategicPatchLimitsLists(t *testing.T) {
	finalizers := func(n int) string {
		return `{"metadata":{"finalizers":["a/b"` + strings.Repeat(`,"a/b"`, n-1) + `]}}`
	}
	p := &patch{call: podCall(t), data: []byte(finalizers(maxPatchItems))}
	if _, _, err := p.applyStrategic(&corev1.Pod{}); err != nil {
		t.Errorf("the maximum: %v", err)
	}
	p.data = []byte(finalizers(maxPatchItems + 1))
	if _, _, err := p.applyStrategic(&corev1.Pod{}); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("one item more: %v", err)
	}
	p.data = []byte(`{"spec":{"securityContext":{"$retainKeys":["runAsUser"` + strings.Repeat(`,"runAsUser"`, maxPatchItems) + `]}}}`)
	if _, _, err := p.applyStrategic(&corev1.Pod{}); err != nil {
		t.Errorf("keys to retain: %v", err)
	}
}

func TestUnmergeableStrategicPatchesAreBadRequests(t *testing.T) {
	s := newTestServer(t, nil)
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	s.must(http.StatusCreated, s.do("POST", deployments, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`))
	for name, patch := range map[string]string{
		"an unknown directive":      `{"$patch":"wat"}`,
		"an item without merge key": `{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}`,
		"a list of mixed types":     `{"spec":{"template":{"spec":{"containers":[1,{"name":"c"}]}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s.must(http.StatusBadRequest, s.do("PATCH", deployments+"/d", patch, "Content-Type: application/strategic-merge-patch+json"))
		})
	}
}

// kube-apiserver decodes a document without apiVersion into an empty object.
func TestPatchesThatRemoveTheVersion(t *testing.T) {
	s := newTestServer(t, nil)
	const configMaps = "/api/v1/namespaces/default/configmaps"
	s.must(http.StatusCreated, s.do("POST", configMaps, `{"metadata":{"name":"m"},"data":{"a":"b"}}`))
	const merge, operations = "Content-Type: application/merge-patch+json", "Content-Type: application/json-patch+json"
	const noName = "the name of the object (m based on URL) was undeterminable: name must be provided"
	for _, c := range []struct {
		name, validation, contentType, patch string
		code                                 int
		text                                 string // in the answer
	}{
		{"null", "Warn", merge, `{"apiVersion":null}`, http.StatusBadRequest, noName},
		{"empty", "Ignore", merge, `{"apiVersion":"","kind":null}`, http.StatusBadRequest, noName},
		{"an operation", "Warn", operations, `[{"op":"remove","path":"/apiVersion"}]`, http.StatusBadRequest, noName},
		{"strict", "Strict", merge, `{"apiVersion":null}`, http.StatusUnprocessableEntity,
			`strict decoding error: unknown field \"data\", unknown field \"metadata\"`},
		{"only the kind", "Strict", merge, `{"kind":null}`, http.StatusOK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := s.must(c.code, s.do("PATCH", configMaps+"/m?fieldValidation="+c.validation, c.patch, c.contentType))
			if !strings.Contains(string(answer.body), c.text) {
				t.Errorf("%s, want %s", answer.body, c.text)
			}
		})
	}
}

func TestJSONPatchLimits(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", strings.Repeat("x", 1000))
	operations := func(n int, operation func(i int) string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = operation(i)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	tests := []struct {
		name, patch string
		status      int
	}{
		{"the maximum number of operations", operations(maxOperations, func(int) string { return `{"op":"test","path":"/kind","value":"ConfigMap"}` }), http.StatusOK},
		{"one operation more", operations(maxOperations+1, func(int) string { return `{"op":"test","path":"/kind","value":"ConfigMap"}` }), http.StatusRequestEntityTooLarge},
		{"some copies", operations(10, func(i int) string { return fmt.Sprintf(`{"op":"copy","from":"/data/k","path":"/data/k%d"}`, i) }), http.StatusOK},
		{"copies of copies", operations(64, func(i int) string { return fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/d%d"}`, i) }), http.StatusUnprocessableEntity},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.must(test.status, s.do("PATCH", "/api/v1/namespaces/default/configmaps/a?dryRun=All", test.patch,
				"Content-Type: "+string(types.JSONPatchType)))
		})
	}
}

// Concurrent patches without a resourceVersion all succeed, while others read.
func TestConcurrentPatches(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "0")
	const writers, rounds = 4, 10
	done := make(chan error, 2*writers)
	send := func(method, path, body string) error {
		for range rounds {
			got, err := s.try(method, path, body, "Content-Type: application/merge-patch+json")
			if err != nil {
				return err
			}
			if got.status != http.StatusOK {
				return fmt.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
		}
		return nil
	}
	for i := range writers {
		go func() {
			done <- send("PATCH", "/api/v1/namespaces/default/configmaps/a", fmt.Sprintf(`{"data":{"w%d":"in"}}`, i))
		}()
		go func() { done <- send("GET", "/api/v1/configmaps", "") }()
	}
	for range 2 * writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	got := s.do("GET", "/api/v1/namespaces/default/configmaps/a", "")
	for i := range writers {
		if !strings.Contains(got.body, fmt.Sprintf(`"w%d":"in"`, i)) {
			t.Errorf("the change of writer %d is missing in %s", i, got.body)
		}
	}
}

// Invalid options are reported before a malformed body.
func TestOptionsOfMalformedPatches(t *testing.T) {
	s := newTestServer(t, nil)
	s.must(http.StatusCreated, s.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`))
	for query, want := range map[string]int{"": http.StatusBadRequest, "?force=true": http.StatusUnprocessableEntity} {
		s.must(want, s.do("PATCH", "/api/v1/namespaces/default/configmaps/a"+query, "{", "Content-Type: application/merge-patch+json"))
	}
}
