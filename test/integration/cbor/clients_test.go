package cbor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

const inCBOR = "application/cbor application/cbor"

func TestTypedClient(t *testing.T) {
	e := start(t, true)
	secrets := e.typed.CoreV1().Secrets("default")
	created, err := secrets.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"l": "v"}}, Data: map[string][]byte{"bytes": {0, 255, '"'}},
	}, metav1.CreateOptions{})
	e.check(err)
	read, err := secrets.Get(t.Context(), "a", metav1.GetOptions{})
	e.check(err)
	if diff := cmp.Diff(created, read); diff != "" || string(read.Data["bytes"]) != "\x00\xff\"" {
		t.Errorf("data %v, the created and the read object differ: %s", read.Data, diff)
	}
	read.Data["text"] = []byte("é")
	updated, err := secrets.Update(t.Context(), read, metav1.UpdateOptions{})
	e.check(err)
	list, err := secrets.List(t.Context(), metav1.ListOptions{LabelSelector: "l=v"})
	e.check(err)
	if diff := cmp.Diff([]corev1.Secret{*updated}, list.Items); diff != "" || list.ResourceVersion == "" {
		t.Errorf("the updated object and the list at %q differ: %s", list.ResourceVersion, diff)
	}
	e.check(secrets.Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(read.UID))}))
	_, err = secrets.Get(t.Context(), "a", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) || err.Error() != `secrets "a" not found` {
		t.Errorf("a get of the deleted object: %v", err)
	}
	e.wantTraffic("POST "+inCBOR, "GET - application/cbor", "PUT "+inCBOR, "GET - application/cbor", "DELETE "+inCBOR, "GET - application/cbor")
}

// Types with JSON encodings of their own, and fields with JSON of any kind, are the same in CBOR.
func TestObjectsAreEqualInJSONAndCBOR(t *testing.T) {
	e := start(t, true)
	revisions := e.typed.AppsV1().ControllerRevisions("default")
	_, err := revisions.Create(t.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "r"}, Revision: 1, Data: runtime.RawExtension{Raw: []byte(`{"a":[1,1.5,null,"x"]}`)},
	}, metav1.CreateOptions{})
	e.check(err)
	revision, err := revisions.Get(t.Context(), "r", metav1.GetOptions{})
	e.check(err)
	if got := string(revision.Data.Raw); got != `{"a":[1,1.5,null,"x"]}` {
		t.Errorf("the data is %s", got)
	}
	_, err = e.widgets().Create(t.Context(), widget("w", map[string]any{"int": int64(1), "float": 1.5, "null": nil, "list": []any{true, "x"}}), metav1.CreateOptions{})
	e.check(err)
	for _, path := range []string{
		"/api/v1/namespaces/default", "/api/v1/namespaces", "/apis/apps/v1/namespaces/default/controllerrevisions/r",
		"/apis/example.com/v1/namespaces/default/widgets/w", "/apis/example.com/v1/widgets", "/api", "/apis", "/apis/apps", "/apis/apps/v1",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
	} {
		var objects [2]map[string]any
		for i, mediaType := range []string{"application/json", "application/cbor"} {
			data, err := e.typed.RESTClient().Get().AbsPath(path).SetHeader("Accept", mediaType).DoRaw(t.Context())
			e.check(err)
			objects[i] = decode(t, mediaType, data)
		}
		if diff := cmp.Diff(objects[0], objects[1]); diff != "" {
			t.Errorf("%s in JSON and CBOR: %s", path, diff)
		}
	}
}

func TestDynamicClientWithCustomResources(t *testing.T) {
	e := start(t, true)
	created, err := e.widgets().Create(t.Context(), widget("w", map[string]any{"a": int64(1)}), metav1.CreateOptions{})
	e.check(err)
	patched, err := e.widgets().Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"b":2.5}}`), metav1.PatchOptions{})
	e.check(err)
	want := map[string]any{"a": int64(1), "b": 2.5}
	if diff := cmp.Diff(want, patched.Object["spec"]); diff != "" {
		t.Errorf("the patched spec (-want +got): %s", diff)
	}
	list, err := e.widgets().List(t.Context(), metav1.ListOptions{})
	e.check(err)
	if diff := cmp.Diff([]unstructured.Unstructured{*patched}, list.Items); diff != "" || list.GetKind() != "WidgetList" {
		t.Errorf("the list is a %s: %s", list.GetKind(), diff)
	}
	_, err = e.widgets().Update(t.Context(), created, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
	e.check(e.widgets().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	e.wantTraffic("POST "+inCBOR, "PATCH application/merge-patch+json application/cbor", "GET - application/cbor", "PUT "+inCBOR, "DELETE "+inCBOR)
}

func TestApply(t *testing.T) {
	e := start(t, true)
	const applied = "PATCH application/apply-patch+cbor application/cbor"
	maps := e.typed.CoreV1().ConfigMaps("default")
	apply := func(manager, value string, force bool) error {
		config := applycorev1.ConfigMap("a", "default").WithData(map[string]string{"k": value})
		_, err := maps.Apply(t.Context(), config, metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	e.check(apply("one", "1", false))
	err := apply("two", "2", false)
	if !apierrors.IsConflict(err) || err.Error() != `Apply failed with 1 conflict: conflict with "one": .data.k` {
		t.Errorf("an apply of a field with another manager: %v", err)
	}
	e.check(apply("two", "2", true))
	read, err := maps.Get(t.Context(), "a", metav1.GetOptions{})
	e.check(err)
	if len(read.ManagedFields) != 1 || read.ManagedFields[0].Manager != "two" || read.Data["k"] != "2" {
		t.Errorf("data %v of %v", read.Data, read.ManagedFields)
	}
	_, err = e.widgets().Apply(t.Context(), "w", widget("w", map[string]any{"a": int64(1)}), metav1.ApplyOptions{FieldManager: "one"})
	e.check(err)
	e.wantTraffic(applied, applied, applied, "GET - application/cbor", applied)
	for body, want := range map[string]string{
		"\x80":                                "error decoding patch: cbor: cannot unmarshal array into Go value",
		"\xa2\x41a\x41a\x41a\x41b":            "error decoding patch: cbor: found duplicate map key",
		"{}":                                  "error decoding patch: ",
		strings.Repeat("\x81", 1002) + "\x00": "the body is nested more than 1000 levels deep",
	} {
		_, err := maps.Patch(t.Context(), "a", types.ApplyCBORPatchType, []byte(body), metav1.PatchOptions{FieldManager: "m"})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("an apply of %.20q: %v", body, err)
		}
	}
	_, err = e.widgets().Patch(t.Context(), "w", types.StrategicMergePatchType, []byte("{}"), metav1.PatchOptions{})
	if want := "application/apply-patch+yaml, application/apply-patch+cbor"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("a strategic merge patch of a custom resource: %v", err)
	}
}

func TestInformersWatchInCBOR(t *testing.T) {
	e := start(t, true)
	factory := informers.NewSharedInformerFactoryWithOptions(e.typed, 0, informers.WithNamespace("default"))
	dynamicFactory := dynamicinformer.NewDynamicSharedInformerFactory(e.dynamic, 0)
	builtIn := factory.Core().V1().ConfigMaps().Informer()
	custom := dynamicFactory.ForResource(e.gvr()).Informer()
	events := make(chan string, 20)
	for _, informer := range []cache.SharedInformer{builtIn, custom} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { events <- "add " + obj.(metav1.Object).GetName() },
			UpdateFunc: func(_, obj any) { events <- "update " + obj.(metav1.Object).GetName() },
			DeleteFunc: func(obj any) { events <- "delete " + obj.(metav1.Object).GetName() },
		})
		e.check(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	dynamicFactory.Start(stop)
	defer func() {
		close(stop)
		factory.Shutdown()
		dynamicFactory.Shutdown()
	}()
	if !cache.WaitForCacheSync(t.Context().Done(), builtIn.HasSynced, custom.HasSynced) {
		t.Fatal("the informers have not synced")
	}
	want := func(event string) {
		t.Helper()
		select {
		case got := <-events:
			if got != event {
				t.Errorf("the event is %q, want %q", got, event)
			}
		case <-time.After(time.Minute):
			t.Fatalf("there is no event, want %q", event)
		}
	}
	maps := e.typed.CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
	e.check(err)
	want("add m")
	_, err = e.widgets().Create(t.Context(), widget("w", map[string]any{}), metav1.CreateOptions{})
	e.check(err)
	want("add w")
	_, err = e.widgets().Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"a":1}}`), metav1.PatchOptions{})
	e.check(err)
	want("update w")
	e.check(maps.Delete(t.Context(), "m", metav1.DeleteOptions{}))
	want("delete m")
	watches := 0
	for _, types := range e.traffic.reset() {
		if types == "GET - application/cbor-seq" {
			watches++
		}
	}
	if watches != 2 {
		t.Errorf("%d watches in CBOR, want 2", watches)
	}
}

// Without the gate a client that prefers CBOR continues in JSON after its first write.
func TestClientFallsBackWithoutTheGate(t *testing.T) {
	e := start(t, false)
	_, err := e.widgets().Create(t.Context(), widget("w", nil), metav1.CreateOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("the first write: %v", err)
	}
	_, err = e.widgets().Create(t.Context(), widget("w", map[string]any{"a": int64(1)}), metav1.CreateOptions{})
	e.check(err)
	_, err = e.widgets().Get(t.Context(), "w", metav1.GetOptions{})
	e.check(err)
	e.wantTraffic("POST application/cbor application/json", "POST application/json application/json", "GET - application/json")
}
