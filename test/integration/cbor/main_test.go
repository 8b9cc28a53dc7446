// Package cbor_test uses client-go with its feature gates for CBOR, which are global variables of
// the process.
package cbor_test

import (
	"cmp"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a server and its clients, which prefer CBOR.
type env struct {
	*testing.T
	typed   *kubernetes.Clientset
	dynamic dynamic.Interface
	traffic *traffic
}

// start starts a server with the value of the gate CBORServingAndStorage, which serves the resource
// widgets.example.com.
func start(t *testing.T, gate bool) *env {
	t.Helper()
	server := servertest.Start(t, miniapi.Config{
		FeatureGates: map[string]bool{"CBORServingAndStorage": gate}, Controllers: []string{"-*"},
	})
	e := &env{T: t, traffic: &traffic{}}
	config := server.RESTConfig()
	config.Wrap(e.traffic.wrap)
	httpClient := servertest.HTTPClient(t, config)
	inJSON, err := dynamic.NewForConfigAndClient(config, httpClient)
	e.check(err)
	_, err = inJSON.Resource(definitions).Create(t.Context(), definition(), metav1.CreateOptions{})
	e.check(err)
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.ClientsAllowCBOR, true)
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.ClientsPreferCBOR, true)
	e.dynamic, err = dynamic.NewForConfigAndClient(config, httpClient)
	e.check(err)
	config.ContentType = "application/cbor"
	e.typed, err = kubernetes.NewForConfigAndClient(config, httpClient)
	e.check(err)
	e.traffic.reset()
	return e
}

func (e *env) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) widgets() dynamic.ResourceInterface {
	return e.dynamic.Resource(e.gvr()).Namespace("default")
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definition returns the definition of widgets.
func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			}},
		},
	}}
}

func widget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// traffic records the content types of requests and responses.
type traffic struct {
	mu    sync.Mutex
	types []string // METHOD REQUEST RESPONSE
	next  http.RoundTripper
}

func (r *traffic) wrap(next http.RoundTripper) http.RoundTripper {
	r.next = next
	return r
}

// RoundTrip implements http.RoundTripper.
func (r *traffic) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.types = append(r.types, request.Method+" "+cmp.Or(request.Header.Get("Content-Type"), "-")+" "+response.Header.Get("Content-Type"))
	}
	return response, err
}

func (r *traffic) reset() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	types := r.types
	r.types = nil
	return types
}

// wantTraffic compares the content types since the last call.
func (e *env) wantTraffic(want ...string) {
	e.Helper()
	if got := e.traffic.reset(); !slices.Equal(got, want) {
		e.Errorf("content types:\n%q, want\n%q", got, want)
	}
}

func (e *env) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
}

// decode decodes a document in a form that all media types share.
func decode(t *testing.T, mediaType string, data []byte) map[string]any {
	t.Helper()
	unmarshal := utiljson.Unmarshal
	if mediaType == "application/cbor" {
		unmarshal = direct.Unmarshal
	}
	var object map[string]any
	if err := unmarshal(data, &object); err != nil {
		t.Fatalf("%s: %v", mediaType, err)
	}
	return object
}
