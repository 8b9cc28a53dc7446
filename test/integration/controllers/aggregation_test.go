package controllers_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// aggregate starts a second server, which serves widgets, and an APIService for it in the first.
func aggregate(t *testing.T) (first, second *env) {
	t.Helper()
	first = start(t, miniapi.Config{})
	ca, err := first.server.FrontProxyCA()
	first.check(err)
	file := filepath.Join(t.TempDir(), "front-proxy-ca.crt")
	first.check(os.WriteFile(file, ca, 0o600))
	second = start(t, miniapi.Config{
		Controllers: []string{"-*"}, RecentRequests: 1000,
		Secure: &miniapi.Secure{RequestHeaders: miniapi.RequestHeaders{
			ClientCAFile: file, UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
		}},
	})
	second.install(widgetDefinition)
	second.createNamespace("n")
	first.createNamespace("n")
	address, err := url.Parse(second.server.URL())
	first.check(err)
	_, err = first.client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{})
	first.check(err)
	first.register(address.Port())
	return first, second
}

// register creates the APIService of widgets and waits until it is available.
func (e *env) register(port string) {
	e.Helper()
	service := &unstructured.Unstructured{}
	e.check(service.UnmarshalJSON([]byte(`{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.example.com"},
		"spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
		"service": {"namespace": "default", "name": "widgets", "port": ` + port + `}}}`)))
	_, err := e.dynamic.Resource(apiServices).Create(e.Context(), service, metav1.CreateOptions{})
	e.check(err)
	e.await("the discovery of the other server", func(ctx context.Context) bool {
		_, err := e.dynamic.Resource(widgets).Namespace("n").List(ctx, metav1.ListOptions{})
		return err == nil
	})
}

// The objects of an aggregated API are deleted with their namespace, as the namespace controller.
func TestAggregatedObjectsAreDeletedWithTheirNamespace(t *testing.T) {
	first, second := aggregate(t)
	second.createNamespace("other")
	second.createWidget("other", "kept")
	first.createWidget("n", "one")
	first.createWidget("n", "two")
	first.deleteNamespace("n")
	first.awaitNamespaceGone("n")
	list, err := second.dynamic.Resource(widgets).List(t.Context(), metav1.ListOptions{})
	second.check(err)
	if len(list.Items) != 1 || list.Items[0].GetName() != "kept" {
		t.Errorf("widgets %v", list.Items)
	}
	if !slices.ContainsFunc(second.server.Requests(), func(r miniapi.Request) bool {
		return r.Verb == "deletecollection" && r.User == "system:serviceaccount:kube-system:namespace-controller"
	}) {
		t.Errorf("requests %v", second.server.Requests())
	}
}

// Finalizers in an aggregated API keep the namespace.
func TestFinalizersOfAggregatedObjectsKeepTheNamespace(t *testing.T) {
	first, _ := aggregate(t)
	first.createWidget("n", "held")
	first.patchWidget(`{"metadata":{"finalizers":["example.com/hold"]}}`)
	first.deleteNamespace("n")
	want := "SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
	if got := first.awaitCondition("n", corev1.NamespaceFinalizersRemaining, corev1.ConditionTrue); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	first.patchWidget(`{"metadata":{"finalizers":null}}`)
	// A change of the namespace starts another pass.
	_, err := first.client.CoreV1().Namespaces().Patch(t.Context(), "n", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		first.check(err)
	}
	first.awaitNamespaceGone("n")
}

func (e *env) patchWidget(patch string) {
	e.Helper()
	_, err := e.dynamic.Resource(widgets).Namespace("n").Patch(e.Context(), "held", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}
