package request

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// oddPaths are paths that a server could authorize as one object and serve as another.
var oddPaths = []string{
	"/", "", "/api", "/api/", "/apis/apps", "/api/v1", "/api/v1/", "/api/v1//", "/apis/apps/v1", "/apis/apps/v1/", "/apis/apps/v1//",
	"/healthz", "/other/v1/pods", "/API/v1/pods", "/Apis/apps/v1/deployments", "//", "//api/v1/pods", "/api//v1/pods", "/apis//v1/pods",
	"/apis/apps//deployments", "/apis/apps//v1/deployments", "/apis/apps/v1//deployments", "/apis/apps/v1//deployments/d",
	"/api/v1/pods", "/api/v1/pods/", "/api/v1/pods//", "/api/v1//pods", "/api/v1/PODS", "/api/v1/pods/p/status/rest", "/api/v1/nodes/n/proxy/a//b",
	"/api/v1/namespaces", "/api/v1/namespaces/n", "/api/v1/namespaces/n/", "/api/v1/namespaces/n/status", "/api/v1/namespaces/n/finalize",
	"/api/v1/namespaces/n/Status", "/api/v1/namespaces/n/status/x", "/api/v1/namespaces/n/pods", "/api/v1/namespaces/n/pods/p",
	"/api/v1/namespaces/n/pods/p/exec", "/api/v1/namespaces//pods", "/api/v1/namespaces//pods/p", "/api/v1/namespaces//namespaces/x",
	"/api/v1/namespaces//status", "/api/v1/namespaces/n//p", "/api/v1/namespaces/n/pods//status", "/api/v1/namespaces/n/pods/p//x",
	"/api/v1/watch", "/api/v1/watch/", "/apis/x.io/v1/watch", "/api/v1/watch/pods", "/api/v1/watch//pods", "/api/v1/watch/namespaces/n/pods/p",
	"/api/v1/watch/namespaces/n", "/apis/apps/v1/watch/namespaces/n/deployments/d/scale", "/api/v1/proxy", "/api/v1/proxy/pods/p/x/y",
	"/api/v1/proxy/namespaces/n/services/s/x", "/api/v1/watch/watch/pods", "/api/v1/../v1/secrets", "/api/v1/./pods", "/api/v1/pods/..",
	"/api/v1/namespaces/n/pods/.", "/api/v1%2Fpods", "/api/v1/%2Fpods", "/api/v1/pods%2F", "/api/v1/namespaces/n%2Fpods", "/apis/apps%2Fv1/deployments",
	"/apis/apps/v1/%2Fdeployments", "/api/v1/namespaces/%2F/pods", "/api/v1/namespaces/n/configmaps/a%2Fb", "/api/v1/namespaces/n/configmaps/%2e%2e",
	"/api/v1/pods%3Fwatch=1", "/%61pi/v1/pods", "/api/v1/%77atch/pods",
}

var upstream = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// checkInfo compares the Info of a request with the RequestInfo of kube-apiserver.
func checkInfo(t *testing.T, r *http.Request) {
	t.Helper()
	want, err := upstream.NewRequestInfo(r)
	got := NewInfo(r)
	if (err != nil) != (got.Form == IncompletePath) {
		t.Errorf("%s %s: form %d, want %v", r.Method, r.URL, got.Form, err)
	}
	if err != nil {
		return
	}
	name := got.Name
	if name == "" {
		name = got.SelectedName
	}
	shown := &request.RequestInfo{
		IsResourceRequest: got.Form == ResourcePath, Path: got.Path, Verb: got.Verb, Namespace: got.Namespace,
		Resource: got.Resource, Subresource: got.Subresource, Name: name,
	}
	if shown.IsResourceRequest {
		shown.APIGroup, shown.APIVersion = got.Group, got.Version
	}
	want.APIPrefix, want.Parts, want.FieldSelector, want.LabelSelector = "", nil, "", ""
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("%s %s (-kube-apiserver +miniapi):\n%s", r.Method, r.URL, diff)
	}
}

func TestInfoMatchesKubeAPIServer(t *testing.T) {
	queries := []string{
		"", "?watch", "?watch=true", "?watch=0", "?watch=False", "?watch=1&fieldSelector=metadata.name%3Da", "?fieldSelector=metadata.name%3Da",
		"?fieldSelector=metadata.name%21%3Da", "?fieldSelector=metadata.name%3Da%2Fb", "?fieldSelector=%3D%3D",
	}
	for _, path := range oddPaths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get"} {
			for _, query := range queries {
				r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path+query, nil)
				if err != nil {
					t.Fatal(err)
				}
				checkInfo(t, r)
			}
		}
	}
}

// An added subresource of namespaces does not hide a resource of another group.
func TestAddedSubresourcesOfNamespaces(t *testing.T) {
	for path, want := range map[string]Target{
		"/api/v1/namespaces/n/history":       {Version: "v1", Namespace: "n", Resource: "namespaces", Name: "n", Subresource: "history"},
		"/api/v1/namespaces/n/history/x":     {Version: "v1", Namespace: "n", InNamespace: true, Resource: "history", Name: "x"},
		"/api/v1/namespaces/n/pods":          {Version: "v1", Namespace: "n", InNamespace: true, Resource: "pods"},
		"/api/v1/namespaces//history":        {Version: "v1", Resource: "namespaces", Subresource: "history", Empty: true},
		"/api/v1/watch/namespaces/n/history": {Version: "v1", Prefix: "watch", Namespace: "n", InNamespace: true, Resource: "history"},
		"/apis/x.io/v1/namespaces/n/history": {Group: "x.io", Version: "v1", Namespace: "n", InNamespace: true, Resource: "history"},
	} {
		want.Form = ResourcePath
		if got := ParseTarget(path, "history"); got != want {
			t.Errorf("ParseTarget(%q) = %+v, want %+v", path, got, want)
		}
	}
}

func TestLongRunningRequests(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/v1/pods?watch=1": true, "/api/v1/namespaces/n/pods/p/log": true, "/api/v1/namespaces/n/pods/p": false,
		"/debug/pprof/profile": true, "/debug/pprof": false, "/apis/debug/pprof/log": false, "/version": false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewInfo(r).IsLongRunning(); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

// A Target contains only names from the path, parsed as in kube-apiserver. Names that become parts
// of storage keys never contain a slash.
func FuzzParseTarget(f *testing.F) {
	for _, path := range oddPaths {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := newRequest(t, "GET /")
		r.URL.Path = path
		checkInfo(t, r)
		got := ParseTarget(path)
		if got.Form != ResourcePath {
			return
		}
		for _, name := range []string{got.Group, got.Version, got.Namespace, got.Resource, got.Name, got.Subresource} {
			if strings.Contains(name, "/") || !strings.Contains(path, name) {
				t.Errorf("ParseTarget(%q) = %+v", path, got)
			}
		}
		incomplete := got.Resource == "" || got.Subresource != "" && got.Name == "" || got.Rest != "" && got.Subresource == "" && got.Prefix != "proxy"
		if incomplete && !got.Empty {
			t.Errorf("ParseTarget(%q) misses a segment: %+v", path, got)
		}
	})
}
