package traffic

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Names of the resources.
const (
	Secrets = "secrets"
	Widgets = "widgets"
	group   = "robustness.miniapi.dev"
)

var (
	widgetResource = schema.GroupVersionResource{Group: group, Version: "v1", Resource: Widgets}
	crdResource    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// resource is a client of one resource in the namespace.
type resource interface {
	name() string
	get(context.Context, string, metav1.GetOptions) (Object, error)
	list(context.Context, metav1.ListOptions) (page, error)
	watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	create(context.Context, Object) (Object, error)
	update(context.Context, Object) (Object, error)
	// patch sets the value of an object and nothing else.
	patch(ctx context.Context, name, written string) (Object, error)
	// apply sets the value and the colour of an object, or creates it.
	apply(ctx context.Context, o Object, manager string) (Object, error)
	delete(context.Context, string, metav1.DeleteOptions) error
}

// page is the response to a list.
type page struct {
	objects  []Object
	revision int64
	more     string // continue token
}

// Clients are the clients of one server.
type Clients struct {
	Typed   kubernetes.Interface
	Dynamic dynamic.Interface
}

// requestTimeout limits a request, so that a client goes on while a server is paused.
const requestTimeout = 10 * time.Second

// NewClients returns clients of a server that do not retry.
func NewClients(url string) (Clients, error) {
	return newClients(url, func(next http.RoundTripper) http.RoundTripper { return withoutRetries{next} })
}

func newClients(url string, wrap func(http.RoundTripper) http.RoundTripper) (Clients, error) {
	config := &rest.Config{Host: url, QPS: -1}
	config.Wrap(wrap)
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return Clients{}, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	typed, err := kubernetes.NewForConfig(config)
	return Clients{typed, dynamicClient}, err
}

func (c Clients) resources() map[string]resource {
	return map[string]resource{
		Secrets: secrets{c.Typed.CoreV1().Secrets(Namespace)},
		Widgets: widgets{c.Dynamic.Resource(widgetResource).Namespace(Namespace)},
	}
}

// withoutRetries removes the header that makes client-go repeat a request.
type withoutRetries struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w withoutRetries) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Header.Del("Retry-After")
	}
	return resp, err
}

// applyOptions are the options of an apply that takes over the fields of other managers.
func applyOptions(manager string) metav1.PatchOptions {
	force := true
	return metav1.PatchOptions{FieldManager: manager, Force: &force}
}

// patchTypes of the resources that set a value.
const (
	secretPatch = types.StrategicMergePatchType
	widgetPatch = types.MergePatchType
)
