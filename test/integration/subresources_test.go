package integration_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// The expected answers are those of kube-apiserver v1.37.1 to the same requests.

const pods = "/api/v1/namespaces/default/pods/"

// send sends a request with a JSON body and returns the code and the body of the response.
func send(t *testing.T, client *kubernetes.Clientset, method, path, body string) (int, string) {
	t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = string(types.StrategicMergePatchType)
	}
	code := 0
	data, _ := client.RESTClient().Verb(method).RequestURI(path).SetHeader("Content-Type", contentType).
		SetHeader("Accept", "application/json").Body([]byte(body)).Do(t.Context()).StatusCode(&code).Raw()
	return code, string(data)
}

// managers returns the managed fields of an object, by subresource.
func managers(t *testing.T, body string) map[string]string {
	t.Helper()
	var object struct{ Metadata metav1.ObjectMeta }
	check(t, json.Unmarshal([]byte(body), &object))
	fields := map[string]string{}
	for _, entry := range object.Metadata.ManagedFields {
		fields[entry.Subresource] = entry.FieldsV1.GetRawString()
	}
	return fields
}

func createPod(t *testing.T, client *kubernetes.Clientset, name string, edit func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if edit != nil {
		edit(p)
	}
	p, err := client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
	check(t, err)
	return p
}

func TestOlderClientsEvictPods(t *testing.T) {
	client := clientset(t, servertest.Start(t, miniapi.Config{}))
	createPod(t, client, "p", nil)
	code, body := send(t, client, http.MethodPost, pods+"p/eviction", `{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"}}`)
	if code != http.StatusCreated {
		t.Errorf("eviction of v1beta1: %d %s", code, body)
	}
	code, body = send(t, client, http.MethodPost, pods+"p/eviction", `{"apiVersion":"policy/v1beta2","kind":"Eviction","metadata":{"name":"p"}}`)
	if code != http.StatusBadRequest {
		t.Errorf("eviction of an unknown version: %d %s", code, body)
	}
}

func TestTokenRequestsOfAnotherUID(t *testing.T) {
	client := clientset(t, servertest.Start(t, miniapi.Config{}))
	account, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(t, err)
	path := "/api/v1/namespaces/default/serviceaccounts/a/token"
	code, body := send(t, client, http.MethodPost, path, `{"metadata":{"uid":"u"}}`)
	want := "the UID in the token request (u) does not match the UID of the service account (" + string(account.UID) + ")"
	if code != http.StatusConflict || !strings.Contains(body, want) {
		t.Errorf("%d %s, want a conflict with %q", code, body, want)
	}
	code, body = send(t, client, http.MethodPost, path, `{"metadata":{"uid":"`+string(account.UID)+`"}}`)
	if fields := managers(t, body)["token"]; code != http.StatusCreated || !strings.Contains(fields, "f:expirationSeconds") {
		t.Errorf("%d, managed fields %q, want the default of expirationSeconds", code, fields)
	}
}

func TestScaleRequests(t *testing.T) {
	client := clientset(t, servertest.Start(t, miniapi.Config{}))
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	code, body := send(t, client, http.MethodPost, deployments, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	if code != http.StatusCreated {
		t.Fatal(body)
	}
	code, body = send(t, client, http.MethodPut, deployments+"/d/scale", `{"metadata":{"name":"d","labels":{"a b":"c"}},"spec":{"replicas":2}}`)
	if code != http.StatusOK {
		t.Errorf("labels, which a Scale does not have: %d %s", code, body)
	}
	code, body = send(t, client, http.MethodPut, deployments+"/d/scale", `{"metadata":{"name":"d","uid":"u"},"spec":{"replicas":2}}`)
	const want = `Operation cannot be fulfilled on deployments.apps \"d\": StorageError: invalid object, Code: 4, Key: /registry/deployments/default/d`
	if code != http.StatusConflict || !strings.Contains(body, want) {
		t.Errorf("another UID: %d %s, want %s", code, body, want)
	}
	code, body = send(t, client, http.MethodPatch, deployments+"/d/scale", `{"metadata":{"uid":"u"}}`)
	const patched = `Operation cannot be fulfilled on deployments/scale.apps \"d\": Precondition failed: UID in precondition: u`
	if code != http.StatusConflict || !strings.Contains(body, patched) {
		t.Errorf("a patch with another UID: %d %s, want %s", code, body, patched)
	}
}

// The names of the nodes of a binding are checked. The code is 500, as in kube-apiserver.
func TestBindingToAnInvalidNode(t *testing.T) {
	client := clientset(t, servertest.Start(t, miniapi.Config{}))
	createPod(t, client, "p", func(p *corev1.Pod) { p.Spec.NodeName = "" })
	for _, node := range []string{"a/b", "..", "A"} {
		code, body := send(t, client, http.MethodPost, pods+"p/binding", `{"metadata":{"name":"p"},"target":{"name":"`+node+`"}}`)
		if want := `target.name: Invalid value: \"` + node + `\"`; code != http.StatusInternalServerError || !strings.Contains(body, want) {
			t.Errorf("node %s: %d %s, want %s", node, code, body, want)
		}
	}
}

// A write owns all fields that it sends, also those that the subresource does not change.
func TestOwnershipByPodSubresources(t *testing.T) {
	client := clientset(t, servertest.Start(t, miniapi.Config{}))
	createPod(t, client, "p", nil)
	code, body := send(t, client, http.MethodPatch, pods+"p/resize", `{"spec":{"containers":[{"name":"c","image":"other"}]}}`)
	if fields := managers(t, body)["resize"]; code != http.StatusOK || !strings.Contains(fields, "f:image") {
		t.Errorf("resize: %d, managed fields %q", code, fields)
	}
	code, body = send(t, client, http.MethodPatch, pods+"p/ephemeralcontainers", `{"metadata":{"labels":{"l":"v"}},"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`)
	if fields := managers(t, body)["ephemeralcontainers"]; code != http.StatusOK || !strings.Contains(fields, "f:labels") {
		t.Errorf("ephemeralcontainers: %d, managed fields %q", code, fields)
	}
}

func TestResizeOfContainersWithClaims(t *testing.T) {
	client := clientset(t, servertest.Start(t, miniapi.Config{}))
	createPod(t, client, "p", func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "q", ResourceClaimName: new("rc")}}
		p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "q"}}
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	})
	code, body := send(t, client, http.MethodPatch, pods+"p/resize", `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}}`)
	if code != http.StatusOK {
		t.Errorf("resize: %d %s", code, body)
	}
	code, body = send(t, client, http.MethodPatch, pods+"p/resize", `{"spec":{"containers":[{"name":"c","resources":{"claims":[{"name":"q","request":"z"}]}}]}}`)
	if code != http.StatusUnprocessableEntity || !strings.Contains(body, "only cpu and memory resources are mutable") {
		t.Errorf("another request of the claim: %d %s", code, body)
	}
}
