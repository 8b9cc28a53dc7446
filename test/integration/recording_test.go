package integration_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/recording"
)

// record returns the recording of the requests of run, as written to a file and read again, and its
// text. watchEnded receives a value when the end of a watch is recorded.
func record(t *testing.T, run func(client kubernetes.Interface, watchEnded <-chan struct{})) ([]recording.Exchange, string) {
	t.Helper()
	recorder, err := recording.NewRecorder(servertest.Start(t, miniapi.Config{}).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	watchEnded := make(chan struct{}, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			defer func() { watchEnded <- struct{}{} }()
		}
		recorder.ServeHTTP(w, r)
	}))
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: proxy.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
	})
	if err != nil {
		t.Fatal(err)
	}
	run(client, watchEnded)
	client.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
	proxy.Close() // waits for open requests
	exchanges, err := recorder.Exchanges()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := recording.Write(&text, exchanges); err != nil {
		t.Fatal(err)
	}
	written := text.String()
	read, err := recording.Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	return read, written
}

// replay returns the differences on a new server.
func replay(t *testing.T, exchanges []recording.Exchange, timeout time.Duration) (differing int, diff string) {
	t.Helper()
	config := recording.Config{Server: servertest.Start(t, miniapi.Config{}).RESTConfig(), Timeout: timeout}
	replayed, err := recording.Replay(t.Context(), config, exchanges)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	differing, err = recording.Diff(&out, exchanges, replayed, "server")
	if err != nil {
		t.Fatal(err)
	}
	return differing, out.String()
}

// exchangeMany sends requests whose answers and later requests contain values that differ from
// server to server.
func exchangeMany(t *testing.T, client kubernetes.Interface, watchEnded <-chan struct{}) {
	t.Helper()
	ctx, core := t.Context(), client.CoreV1()
	created, err := core.ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "generated-", Annotations: map[string]string{"at": "2020-01-02T03:04:05Z"}},
	}, metav1.CreateOptions{})
	check(t, err)
	list, err := core.ConfigMaps("default").List(ctx, metav1.ListOptions{})
	check(t, err)
	watch, err := core.ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	check(t, err)
	created.Data = map[string]string{"k": "v"}
	_, err = core.ConfigMaps("default").Update(ctx, created, metav1.UpdateOptions{})
	check(t, err)
	<-watch.ResultChan()
	if _, err := core.ConfigMaps("default").Update(ctx, created, metav1.UpdateOptions{}); err == nil {
		t.Error("the stale update succeeded")
	}
	check(t, core.ConfigMaps("default").Delete(ctx, created.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(created.UID))}))
	<-watch.ResultChan()
	watch.Stop()
	<-watchEnded // the recording names the next request

	_, err = core.Services("default").Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	check(t, err)
	service, err := core.Services("default").Get(ctx, "web", metav1.GetOptions{})
	check(t, err)
	_, err = core.Services("default").Update(ctx, service, metav1.UpdateOptions{})
	check(t, err)

	_, err = core.Secrets("default").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"a": []byte("hunter2")}, StringData: map[string]string{"b": "hunter2"},
	}, metav1.CreateOptions{})
	check(t, err)
	_, err = core.Secrets("default").Patch(ctx, "s", types.JSONPatchType, []byte(`[{"op":"replace","path":"/data/a","value":"aHVudGVyMw=="}]`), metav1.PatchOptions{})
	check(t, err)
	_, err = core.ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	check(t, err)
	issued, err := core.ServiceAccounts("default").CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	check(t, err)
	_, err = client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: issued.Status.Token},
	}, metav1.CreateOptions{})
	check(t, err)
}

func TestReplayOfARecordingHasNoDifferences(t *testing.T) {
	t.Parallel()
	exchanges, text := record(t, func(client kubernetes.Interface, watchEnded <-chan struct{}) { exchangeMany(t, client, watchEnded) })
	if differing, diff := replay(t, exchanges, 0); differing > 0 {
		t.Errorf("%d differences:\n%s", differing, diff)
	}
	again, second := record(t, func(client kubernetes.Interface, watchEnded <-chan struct{}) { exchangeMany(t, client, watchEnded) })
	if text != second || len(again) != len(exchanges) {
		t.Errorf("two recordings of the same requests differ:\n%s\n---\n%s", text, second)
	}
}

func TestRecordingsContainNoSecretsAndNoVolatileValues(t *testing.T) {
	t.Parallel()
	_, text := record(t, func(client kubernetes.Interface, watchEnded <-chan struct{}) { exchangeMany(t, client, watchEnded) })
	for _, unwanted := range []string{"hunter", "aHVudGVy", "eyJ", `resourceVersion: "`, "timeoutSeconds"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the recording contains %s:\n%s", unwanted, text)
		}
	}
	for _, want := range []string{
		"at: \"2020-01-02T03:04:05Z\"", "DELETE /api/v1/namespaces/default/configmaps/generated-<name-1>",
		"uid: <uid-1>", "resourceVersion=<listVersion-1>", "nodePort: <nodePort-1>", "clusterIP: <ip-1>",
		"token: <token-1>", "a: <secret-1>", "b: <secret-1>", "value: <secret-2>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the recording does not contain %s:\n%s", want, text)
		}
	}
}

func TestReplayShowsTheDifference(t *testing.T) {
	t.Parallel()
	exchanges, _ := record(t, func(client kubernetes.Interface, _ <-chan struct{}) {
		for _, name := range []string{"a", "b"} {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": "v"}}
			if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})
	exchanges[0].Answer.(map[string]any)["data"] = map[string]any{"k": "other"}
	exchanges[1].Answer.(map[string]any)["metadata"].(map[string]any)["uid"] = "<uid-1>" // of the first object
	differing, diff := replay(t, exchanges, 0)
	if differing != 2 {
		t.Errorf("%d differences", differing)
	}
	for _, want := range []string{
		"--- recording: exchange 1, POST /api/v1/namespaces/default/configmaps\n+++ server\n",
		"\n-    k: other\n+    k: v\n", "\n-    uid: <uid-1>\n+    uid: <uid-2>\n",
	} {
		if !strings.Contains(diff, want) {
			t.Errorf("no %q in\n%s", want, diff)
		}
	}
}

func TestReplayOfAMissingEventEnds(t *testing.T) {
	t.Parallel()
	exchanges := []recording.Exchange{
		{Request: "GET /api/v1/namespaces/default/configmaps?watch=true", Code: 200, Events: []any{map[string]any{"type": "ADDED", "object": map[string]any{
			"metadata": map[string]any{"name": "absent", "uid": "<uid-1>"},
		}}}},
		{Request: "DELETE /api/v1/namespaces/default/configmaps/absent?note=<uid-1>", Code: 200},
	}
	differing, diff := replay(t, exchanges, 5*time.Second) // the watch takes all of it
	if differing != 2 || !strings.Contains(diff, "-events:\n") || !strings.Contains(diff, "-code: 200\n+code: 404\n") {
		t.Errorf("%d differences:\n%s", differing, diff)
	}
}
