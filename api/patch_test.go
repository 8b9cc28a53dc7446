package api

import (
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
	"github.com/miniapi/miniapi/registry"
)

// podCall is a call about a pod which never reaches a store.
func podCall(tb testing.TB) *call {
	tb.Helper()
	i := slices.IndexFunc(kinds.Resources(), func(r *registry.Resource) bool { return r.Kind == "Pod" })
	resource := kinds.Resources()[i]
	version, _ := resource.Version("v1")
	return &call{
		server:   &Server{responder: encoding.NewResponder(encoding.Config{Scheme: kinds.Scheme()})},
		r:        httptest.NewRequest("PATCH", "/", nil),
		resource: resource, version: version,
	}
}

// A merge key has to be something that can be compared.
func TestStrategicPatchWithAMapForAKey(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	p := &patch{call: podCall(t), data: []byte(`{"spec":{"containers":[{"name":{}}]}}`)}
	if _, _, err := p.applyStrategic(pod); !apierrors.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
}

// A patch of any kind leads to an object of the kind or to an error, and leaves
// the state that it was applied to as it was.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"copy","from":"/spec","path":"/spec/x"}]`,
		`[{"op":"move","from":"","path":"/metadata/name"},{"op":"test"}]`,
		`[{"op":"add","path":"/spec/containers/-","value":null},{"op":"remove","path":"/spec/containers/-1"}]`,
		`{"spec":{"containers":[{"name":"c","$patch":"delete"}]},"metadata":{"$retainKeys":["name"],"finalizers":null}}`,
		`{"spec":{"$setElementOrder/containers":[{"name":"d"}],"containers":[{"$patch":"replace"}]}}`,
		`{"spec":{"containers":[{"name":{}}]}}`,
		`null`, ``, `[]`,
	} {
		f.Add(seed)
	}
	c := podCall(f)
	f.Fuzz(func(t *testing.T, data string) {
		for _, kind := range patchTypes {
			if kind.contentType == types.ApplyYAMLPatchType {
				continue // a store merges those
			}
			for _, validation := range []string{metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
				pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
				p := &patch{call: c, data: []byte(data), options: writeOptions{validation: validation}}
				got, err := kind.propose(p, t.Context(), pod)
				if _, ok := got.(*corev1.Pod); err == nil && !ok {
					t.Errorf("%s made a %T", kind.contentType, got)
				}
				if len(pod.Spec.Containers) != 1 || pod.Spec.Containers[0].Image != "i" {
					t.Errorf("%s changed the current state: %v", kind.contentType, pod.Spec.Containers)
				}
			}
		}
	})
}

// To merge lists takes quadratic time.
func TestListsOfStrategicPatchesAreBounded(t *testing.T) {
	finalizers := func(n int) string {
		return `{"metadata":{"finalizers":["a/b"` + strings.Repeat(`,"a/b"`, n-1) + `]}}`
	}
	p := &patch{call: podCall(t), data: []byte(finalizers(maxPatchItems))}
	if _, _, err := p.applyStrategic(&corev1.Pod{}); err != nil {
		t.Errorf("as many as allowed: %v", err)
	}
	p.data = []byte(finalizers(maxPatchItems + 1))
	if _, _, err := p.applyStrategic(&corev1.Pod{}); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("one more: %v", err)
	}
}

// What cannot be merged is the patch's fault, whatever is wrong with it.
func TestFaultyStrategicPatchesAreTheClientsMistake(t *testing.T) {
	s := newStack(t, nil)
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	s.must(http.StatusCreated, s.do("POST", deployments, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`))
	for rule, patch := range map[string]string{
		"a directive nobody knows": `{"$patch":"wat"}`,
		"no merge key":             `{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}`,
		"a list of all sorts":      `{"spec":{"template":{"spec":{"containers":[1,{"name":"c"}]}}}}`,
	} {
		t.Run(rule, func(t *testing.T) {
			s.must(http.StatusBadRequest, s.do("PATCH", deployments+"/d", patch, "Content-Type: application/strategic-merge-patch+json"))
		})
	}
}
