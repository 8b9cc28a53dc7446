package crd_test

import (
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/miniapi/miniapi/internal/servertest"
)

// watcher reads the events of a watch.
type watcher struct {
	*env
	watch.Interface
}

func (w watcher) object() *unstructured.Unstructured {
	w.Helper()
	return w.next(w.Interface).Object.(*unstructured.Unstructured)
}

// A client's informer continues after a change of the schema and reports later changes.
func TestInformerContinuesAfterASchemaChange(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: integer}}}`))
	e.widget("w", "spec: {a: 1}")
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(e.client, 0)
	seen := make(chan string, 100)
	note := func(obj any) { seen <- spec(obj.(*unstructured.Unstructured)) }
	if _, err := factory.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) },
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer cancel()
	factory.Start(ctx.Done())
	await := func(want string) {
		t.Helper()
		for {
			select {
			case got := <-seen:
				if got == want {
					return
				}
			case <-time.After(5 * time.Minute):
				t.Fatalf("the informer has not seen %s", want)
			}
		}
	}
	await(`{"a":1}`)
	for _, step := range []struct{ name, patch, want string }{
		{"b", `{"spec":{"b":2}}`, `{"a":1,"b":2}`},
		{"c", `{"spec":{"c":3}}`, `{"a":1,"c":3}`},
	} {
		e.change("widgets", func(d *definition) {
			d.Spec.Versions[0].Schema = versionOf("v1", `spec: {type: object, properties: {a: {type: integer}, `+step.name+`: {type: integer}}}`).Schema
		})
		if _, err := e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(step.patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		await(step.want)
	}
}

func TestSelectableFields(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {color: {type: string}, size: {type: integer}, live: {type: boolean}}}`, func(d *definition) {
		d.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}, {JSONPath: ".spec.size"}, {JSONPath: ".spec.live"}}
	}))
	e.widget("red", "spec: {color: red, size: 1, live: true}")
	e.widget("blue", "spec: {color: blue, size: 2}")
	for selector, want := range map[string]string{
		"spec.color=red":                   "red ",
		"spec.color!=red":                  "blue ",
		"spec.size=2":                      "blue ",
		"spec.live=true":                   "red ",
		"spec.live=":                       "blue ",
		"spec.color=red,metadata.name=red": "red ",
		"spec.color=red,spec.size=2":       "",
	} {
		list, err := e.widgets("v1").List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, item := range list.Items {
			got += item.GetName() + " "
		}
		if got != want {
			t.Errorf("%s selects %q", selector, got)
		}
	}
	_, err := e.widgets("v1").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.shape=round"})
	servertest.WantStatus(t, err, 400, metav1.StatusReasonBadRequest, "field label not supported: spec.shape")

	w, err := e.widgets("v1").Watch(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=green"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, color := range []string{"green", "red", "green"} {
		if _, err := e.widgets("v1").Patch(t.Context(), "red", types.MergePatchType, []byte(`{"spec":{"color":"`+color+`"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []watch.EventType{watch.Added, watch.Deleted, watch.Added} {
		if got := e.next(w); got.Type != want {
			t.Errorf("got %s of %s, want %s", got.Type, toJSON(got.Object), want)
		}
	}
}

func TestPartialObjectMetadata(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	created := e.widget("w", "spec: {a: 1}\nmetadata: {labels: {a: b}}")
	client, err := metadata.NewForConfig(e.server.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}).Namespace("default")
	list, err := widgets.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].UID != created.GetUID() || list.Items[0].Labels["a"] != "b" {
		t.Errorf("listed %s", toJSON(list))
	}
	w, err := widgets.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := e.widgets("v1").Delete(t.Context(), "w", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	event := e.next(w)
	if got, ok := event.Object.(*metav1.PartialObjectMetadata); !ok || event.Type != watch.Deleted || got.UID != created.GetUID() {
		t.Errorf("watched %s of %s", event.Type, toJSON(event.Object))
	}
}
