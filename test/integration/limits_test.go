package integration_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miniapi/miniapi"
)

// An object that is too large for the storage is rejected before field managers, admission and
// validation run. The message is the server's, not etcd's.
func TestTooLargeObjectsAreRejectedFirst(t *testing.T) {
	server := start(t, miniapi.Config{})
	var labels strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&labels, `,"l%d":"v"`, i)
	}
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{` + labels.String()[1:] + `}}}`
	for name, c := range map[string]struct{ method, path, contentType string }{
		"create":          {http.MethodPost, "", "application/json"},
		"apply":           {http.MethodPatch, "/a?fieldManager=m", "application/apply-patch+yaml"},
		"merge patch":     {http.MethodPatch, "/kube-root", "application/merge-patch+json"},
		"strategic patch": {http.MethodPatch, "/kube-root", "application/strategic-merge-patch+json"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := body
			if c.path == "/kube-root" {
				request(t, http.MethodPost, server.URL()+"/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"name":"kube-root"}}`)
				sent = strings.Replace(body, `"name":"a",`, "", 1)
			}
			got := request(t, c.method, server.URL()+"/api/v1/namespaces/default/configmaps"+c.path, c.contentType, sent)
			if want := "Request entity too large: the object is too large for the store: it takes at least "; !strings.Contains(got, want) {
				t.Errorf("got %.300s\nwant %s", got, want)
			}
		})
	}
}

// Stop cuts off a request that does not end, names it in its error, and still closes the storage.
func TestStopHasATimeout(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts nothing
	check(t, err)
	defer silent.Close()
	server, err := miniapi.Start(t.Context(), miniapi.Config{})
	check(t, err)
	request(t, http.MethodPost, server.URL()+"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "application/json", `{
		"metadata":{"name":"silent"},"webhooks":[{"name":"silent.example.org","clientConfig":{"url":"https://`+silent.Addr().String()+`"},
		"timeoutSeconds":30,"sideEffects":"None","admissionReviewVersions":["v1"],
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]}]}`)
	requestErr := make(chan error, 1)
	go func() { // ends with the server
		res, err := http.Post(server.URL()+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(`{"metadata":{"name":"a"}}`))
		if err == nil {
			err = res.Body.Close()
		}
		requestErr <- err
	}()
	for !slices.ContainsFunc(server.OpenRequests(), func(r miniapi.OpenRequest) bool { return r.Verb == "create" && strings.HasSuffix(r.URI, "/configmaps") }) {
		runtime.Gosched()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	err = server.Stop(ctx)
	if err == nil || !strings.Contains(err.Error(), "create: POST /api/v1/namespaces/default/configmaps") {
		t.Errorf("the error does not name the open request: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "close embedded etcd") {
		t.Errorf("the storage was not closed: %v", err)
	}
	<-requestErr
}

// request sends a body and returns the body of the response.
func request(t *testing.T, method, url, contentType, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	check(t, err)
	return string(data)
}
