package miniapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/miniapi/miniapi"
)

// What the store cannot hold is refused before the work of a write is done on
// it: the size in the answer is the server's, not etcd's.
func TestObjectsTooLargeForTheStoreAreRefusedFirst(t *testing.T) {
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

// request sends a body and returns the answer.
func request(t *testing.T, method, url, contentType, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	check(t, err)
	return string(answer)
}
