package webhook_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// env is an API server, a client of it, and a webhook server.
type env struct {
	*testing.T
	server   *miniapi.Server
	client   kubernetes.Interface
	hooks    *httptest.Server
	warnings servertest.Warnings
	opened   atomic.Int32 // connections to hooks

	mu sync.Mutex // guards all below
	// handlers are keyed by the path of the webhook. Webhooks without a handler allow.
	handlers map[string]handler
	received []received
}

// handler is the behavior of a webhook.
type handler func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// received is a request that a webhook received.
type received struct {
	path    string
	version string
	// token is the header Authorization.
	token string
	*admissionv1.AdmissionRequest
}

func start(t *testing.T) *env { return startWith(t, miniapi.Config{}) }

func startWith(t *testing.T, config miniapi.Config) *env {
	t.Helper()
	e := &env{T: t, handlers: map[string]handler{}}
	e.hooks = httptest.NewUnstartedServer(http.HandlerFunc(e.serve))
	e.hooks.EnableHTTP2 = true
	e.hooks.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		e.opened.Add(1)
		return ctx
	}
	e.hooks.StartTLS()
	t.Cleanup(e.hooks.Close)
	server := servertest.Start(t, config)
	e.server = server
	clientConfig := rest.CopyConfig(server.RESTConfig())
	clientConfig.WarningHandler = &e.warnings
	e.client = servertest.Client(t, clientConfig)
	return e
}

// serve handles the requests to all webhooks.
func (e *env) serve(w http.ResponseWriter, r *http.Request) {
	review := admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.received = append(e.received, received{r.URL.Path, review.APIVersion, r.Header.Get("Authorization"), review.Request})
	handle := e.handlers[r.URL.Path]
	e.mu.Unlock()
	response := allow()
	if handle != nil {
		response = handle(review.Request)
	}
	if response.UID == "" {
		response.UID = review.Request.UID
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

func (e *env) handle(path string, h handler) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handlers[path] = h
}

// calls returns the paths of the webhooks called since the last call of calls or requests.
func (e *env) calls() []string {
	var paths []string
	for _, a := range e.requests() {
		paths = append(paths, a.path)
	}
	return paths
}

// requests returns the requests received since the last call of calls or requests.
func (e *env) requests() []received {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.received
	e.received = nil
	return all
}

func (e *env) config(path string) admissionregistrationv1.WebhookClientConfig {
	url := e.hooks.URL + path
	return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: e.bundle()}
}

func (e *env) bundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.hooks.Certificate().Raw})
}

// mutating creates a configuration with one mutating webhook at path /name.
func (e *env) mutating(name string, change ...func(*admissionregistrationv1.MutatingWebhook)) {
	e.Helper()
	w := admissionregistrationv1.MutatingWebhook{
		Name: name + ".example.com", ClientConfig: e.config("/" + name), Rules: rules("CREATE UPDATE", "", "v1", "configmaps"),
		SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
	}
	for _, f := range change {
		f(&w)
	}
	must(e.T, e.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create, &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.MutatingWebhook{w},
	})
}

// validating creates a configuration with one validating webhook at path /name.
func (e *env) validating(name string, change ...func(*admissionregistrationv1.ValidatingWebhook)) {
	e.Helper()
	w := admissionregistrationv1.ValidatingWebhook{
		Name: name + ".example.com", ClientConfig: e.config("/" + name), Rules: rules("CREATE UPDATE", "", "v1", "configmaps"),
		SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
	}
	for _, f := range change {
		f(&w)
	}
	must(e.T, e.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{w},
	})
}

// rules returns one rule. Operations and resources are separated by spaces.
func rules(operations, group, version, resources string) []admissionregistrationv1.RuleWithOperations {
	rule := admissionregistrationv1.RuleWithOperations{Rule: admissionregistrationv1.Rule{
		APIGroups: []string{group}, APIVersions: []string{version}, Resources: strings.Fields(resources),
	}}
	for operation := range strings.FieldsSeq(operations) {
		rule.Operations = append(rule.Operations, admissionregistrationv1.OperationType(operation))
	}
	return []admissionregistrationv1.RuleWithOperations{rule}
}

func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

func deny(result *metav1.Status) handler {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: result}
	}
}

func patch(text string) handler {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(text), PatchType: new(admissionv1.PatchTypeJSONPatch)}
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

func (e *env) create(c *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return e.client.CoreV1().ConfigMaps("default").Create(e.Context(), c, metav1.CreateOptions{})
}

// must creates an object, or fails the test.
func must[T any](t *testing.T, create func(context.Context, T, metav1.CreateOptions) (T, error), obj T) T {
	t.Helper()
	created, err := create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// with returns an env that reports to another test.
func (e *env) with(t *testing.T) *env {
	return &env{T: t, server: e.server, client: e.client, hooks: e.hooks}
}

// remove deletes the configurations of a webhook.
func (e *env) remove(name string) {
	e.Helper()
	admissionregistration := e.client.AdmissionregistrationV1()
	for _, remove := range []func(context.Context, string, metav1.DeleteOptions) error{
		admissionregistration.MutatingWebhookConfigurations().Delete, admissionregistration.ValidatingWebhookConfigurations().Delete,
	} {
		if err := remove(e.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			e.Fatal(err)
		}
	}
}
