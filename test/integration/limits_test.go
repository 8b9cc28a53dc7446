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
	"github.com/miniapi/miniapi/internal/servertest"
)

// An object that is too large for the storage is rejected before field managers, admission and
// validation run. The message is the server's, not etcd's.
func TestTooLargeObjectsAreRejectedFirst(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	var labels strings.Builder
	for i := range 30_000 { // 2 MB
		fmt.Fprintf(&labels, `,"l%058d":"v"`, i)
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

// As in kube-apiserver, an object that is too large only with its managed fields is stored without
// them. An apply cannot drop them.
func TestLargeObjectsLoseTheirManagedFields(t *testing.T) {
	url := servertest.Start(t, miniapi.Config{}).URL() + "/api/v1/namespaces/default/configmaps"
	var data strings.Builder
	for i := range 3_500 { // 0.9 MB, and as much of managed fields
		fmt.Fprintf(&data, `,"k%0248d":"v"`, i)
	}
	object := func(extra string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` + data.String()[1:] + extra + `}}`
	}
	for _, step := range []struct {
		rule, method, path, contentType, body string
		managed                               bool
	}{
		{"create", http.MethodPost, "", "application/json", object(""), false},
		{"update", http.MethodPut, "/a", "application/json", object(`,"x":"y"`), false},
		{"patch", http.MethodPatch, "/a", "application/merge-patch+json", `{"data":{"x":"z"}}`, false},
		{"small patch", http.MethodPatch, "/a", "application/json-patch+json", `[{"op":"replace","path":"/data","value":{"a":"b"}}]`, false},
		{"small apply", http.MethodPatch, "/a?fieldManager=m&force=true", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b"}}`, true},
		{"large patch", http.MethodPatch, "/a", "application/merge-patch+json", object(""), false},
	} {
		got := request(t, step.method, url+step.path, step.contentType, step.body)
		if !strings.HasPrefix(got, `{"kind":"ConfigMap"`) || strings.Contains(got, "managedFields") != step.managed {
			t.Errorf("%s: got %.300s", step.rule, got)
		}
	}
	got := request(t, http.MethodPatch, url+"/a?fieldManager=m&force=true", "application/apply-patch+yaml", object(""))
	if !strings.Contains(got, `"code":413`) {
		t.Errorf("apply: got %.300s", got)
	}
}

func TestLargeHeadersAreRejected(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	for size, want := range map[int]int{1 << 19: http.StatusOK, 1<<20 + 8192: http.StatusRequestHeaderFieldsTooLarge} {
		got := statusFor(t, server, http.Header{"X-Large": {strings.Repeat("x", size)}})
		if got != want {
			t.Errorf("%d bytes: %d, want %d", size, got, want)
		}
	}
}

// The size of objects that are not stored is limited by the size of bodies only.
func TestReviewsMayBeLargerThanStoredObjects(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	body := `{"spec":{"token":"` + strings.Repeat("x", 2_000_000) + `"}}`
	got := request(t, http.MethodPost, server.URL()+"/apis/authentication.k8s.io/v1/tokenreviews", "application/json", body)
	if !strings.HasPrefix(got, `{"kind":"TokenReview"`) {
		t.Errorf("got %.300s", got)
	}
}

// Each version of a custom resource has the other versions, for field managers and conversions.
// They are computed on demand: together they take memory quadratic in the number of versions.
func TestManyVersionsOfACustomResource(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	var versions strings.Builder
	const count = 1000
	for i := range count {
		fmt.Fprintf(&versions, `,{"name":"v%d","served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, i+1, i == 0)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := request(t, http.MethodPost, server.URL()+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json",
		`{"metadata":{"name":"as.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"as","kind":"A"},"versions":[`+versions.String()[1:]+`]}}`)
	if got := request(t, http.MethodGet, server.URL()+"/apis/example.com/v7/as", "", ""); !strings.Contains(got, `"kind":"AList"`) {
		t.Fatalf("got %.300s", got)
	}
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 200 {
		t.Errorf("%d versions allocated %d MiB; answer %.100s", count, allocated, got)
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
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second) // half of it for the storage
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
