package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTarget(t *testing.T) {
	tests := []struct {
		name, path string
		want       target
		refused    bool
	}{
		{name: "collection of the core group", path: "/api/v1/pods",
			want: target{Version: "v1", Resource: "pods"}},
		{name: "object in a namespace", path: "/apis/apps/v1/namespaces/n/deployments/d",
			want: target{Group: "apps", Version: "v1", InNamespace: true, Namespace: "n", Resource: "deployments", Name: "d"}},
		{name: "a slash at the end does not count", path: "/api/v1/namespaces/n/pods/",
			want: target{Version: "v1", InNamespace: true, Namespace: "n", Resource: "pods"}},
		{name: "a namespace is an object", path: "/api/v1/namespaces/n",
			want: target{Version: "v1", Resource: "namespaces", Name: "n"}},
		{name: "with subresources", path: "/api/v1/namespaces/n/finalize",
			want: target{Version: "v1", Resource: "namespaces", Name: "n", Subresource: "finalize"}},
		{name: "subresource", path: "/api/v1/namespaces/n/pods/p/status",
			want: target{Version: "v1", InNamespace: true, Namespace: "n", Resource: "pods", Name: "p", Subresource: "status"}},
		{name: "path behind a subresource", path: "/api/v1/nodes/n/proxy/a//b",
			want: target{Version: "v1", Resource: "nodes", Name: "n", Subresource: "proxy", Rest: "a//b"}},
		{name: "legacy watch of a collection", path: "/api/v1/watch/pods",
			want: target{Version: "v1", Watch: true, Resource: "pods"}},
		{name: "legacy watch in a namespace", path: "/apis/apps/v1/watch/namespaces/n/deployments/d",
			want: target{Group: "apps", Version: "v1", Watch: true, InNamespace: true, Namespace: "n", Resource: "deployments", Name: "d"}},
		{name: "a resource may be called watch", path: "/apis/x.io/v1/watch",
			want: target{Group: "x.io", Version: "v1", Resource: "watch"}},
		{name: "no resource", path: "/api/v1", refused: true},
		{name: "no version", path: "/apis/apps", refused: true},
		{name: "empty name", path: "/api/v1/namespaces/n/pods//status", refused: true},
		{name: "empty namespace", path: "/api/v1/namespaces//pods", refused: true},
		{name: "no API", path: "/other/v1/pods", refused: true},
		{name: "nothing", path: "", refused: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := parseTarget(test.path)
			if ok == test.refused {
				t.Fatalf("parseTarget(%q) = %+v, %v", test.path, got, ok)
			}
			if diff := cmp.Diff(test.want, got); ok && diff != "" {
				t.Errorf("parseTarget(%q) (-want +got):\n%s", test.path, diff)
			}
		})
	}
}

// A target names what is in the path and nothing else, and the names which
// become parts of storage keys never contain a slash.
func FuzzParseTarget(f *testing.F) {
	f.Add("/api/v1/namespaces/n/pods/p/status")
	f.Add("/apis/apps/v1/watch/namespaces/n/deployments/d")
	f.Add("//api//v1///")
	f.Fuzz(func(t *testing.T, path string) {
		got, ok := parseTarget(path)
		if !ok {
			return
		}
		for _, name := range []string{got.Group, got.Version, got.Namespace, got.Resource, got.Name, got.Subresource} {
			if strings.Contains(name, "/") || !strings.Contains(path, name) {
				t.Errorf("parseTarget(%q) = %+v", path, got)
			}
		}
		if got.Resource == "" || (got.Subresource != "" && got.Name == "") || (got.Rest != "" && got.Subresource == "") {
			t.Errorf("parseTarget(%q) leaves something out: %+v", path, got)
		}
	})
}
