package api

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

const (
	acceptV2     = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
	acceptV2Beta = "Accept: application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	acceptV2Pb   = "Accept: application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// noStorage is the storage of a server without one.
type noStorage struct{ storage.Interface }

// Count implements storage.Interface.
func (noStorage) Count(context.Context, string) (int64, error) { return 0, storage.ErrUnavailable }

// newStorelessServer starts a server with the built-in kinds of v1.36 and without storage.
func newStorelessServer(t *testing.T, configure func(*Config)) *testServer {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{
		Storage: func(storage.Codec) storage.Interface { return noStorage{} },
	})
	if err := catalog.Add(kinds.Resources(feature.At(feature.Oldest))...); err != nil {
		t.Fatal(err)
	}
	config := Config{Catalog: catalog, Scheme: kinds.Scheme()}
	config.Version = version.Info{Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "36", GitVersion: "v1.37.1"}
	if configure != nil {
		configure(&config)
	}
	s := &testServer{t: t}
	s.serve(config)
	return s
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parseJSON(t, string(data), into)
}

func parseJSON(t *testing.T, document string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(document), into); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
}

// The aggregated documents equal the documents of kube-apiserver v1.36.3, including their order.
func TestAggregatedDiscoveryMatchesKubeAPIServer(t *testing.T) {
	s := newStorelessServer(t, nil)
	for path, file := range map[string]string{"/api": "api.json", "/apis/": "apis.json"} {
		var want, got any
		readJSON(t, "testdata/discovery/"+file, &want)
		r := s.must(http.StatusOK, s.do("GET", path, "", acceptV2))
		parseJSON(t, r.body, &got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-kube-apiserver +miniapi):\n%s", path, diff)
		}
		if got, want := r.header.Get("Content-Type"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"; got != want {
			t.Errorf("%s has Content-Type %s, want %s", path, got, want)
		}
	}
}

func TestAggregatedDiscoveryVersionsAndEncodings(t *testing.T) {
	s := newStorelessServer(t, nil)
	var current, beta map[string]any
	parseJSON(t, s.must(http.StatusOK, s.do("GET", "/apis", "", acceptV2)).body, &current)
	parseJSON(t, s.must(http.StatusOK, s.do("GET", "/apis", "", acceptV2Beta)).body, &beta)
	if beta["apiVersion"] != "apidiscovery.k8s.io/v2beta1" {
		t.Errorf("a request for v2beta1 returns %v", beta["apiVersion"])
	}
	if diff := cmp.Diff(current["items"], beta["items"]); diff != "" {
		t.Errorf("the versions differ (-v2 +v2beta1):\n%s", diff)
	}

	r := s.must(http.StatusOK, s.do("GET", "/apis", "", acceptV2Pb))
	body, ok := strings.CutPrefix(r.body, "k8s\x00")
	var envelope runtime.Unknown
	if err := envelope.Unmarshal([]byte(body)); !ok || err != nil {
		t.Fatalf("not a protobuf envelope: %v", err)
	}
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := list.Unmarshal(envelope.Raw); err != nil {
		t.Fatal(err)
	}
	if got, want := len(list.Items), len(current["items"].([]any)); got != want {
		t.Errorf("protobuf has %d groups, JSON has %d", got, want)
	}
}

func TestAggregatedDiscoveryETag(t *testing.T) {
	s := newStorelessServer(t, nil)
	first := s.must(http.StatusOK, s.do("GET", "/apis", "", acceptV2))
	etag := first.header.Get("ETag")
	if !strings.HasPrefix(etag, `"`) || len(etag) != 130 {
		t.Errorf("ETag %s is not a SHA-512 in quotes", etag)
	}
	if vary := first.header.Get("Vary"); vary != "Accept" {
		t.Errorf("Vary is %q, want Accept", vary)
	}
	unchanged := s.must(http.StatusNotModified, s.do("GET", "/apis", "", acceptV2, "If-None-Match: "+etag))
	if unchanged.body != "" {
		t.Errorf("304 has a body: %s", unchanged.body)
	}
	s.must(http.StatusOK, s.do("GET", "/apis", "", acceptV2, `If-None-Match: "other"`))
	// The plain list has no ETag.
	plain := s.must(http.StatusOK, s.do("GET", "/apis", "", "If-None-Match: "+etag))
	if plain.header.Get("ETag") != "" {
		t.Errorf("the plain list of groups has the ETag %s", plain.header.Get("ETag"))
	}
}

func TestDiscoveryFollowsTheCatalog(t *testing.T) {
	s := newStorelessServer(t, nil)
	before := s.must(http.StatusOK, s.do("GET", "/apis", "", acceptV2)).header.Get("ETag")
	openapiBefore := s.must(http.StatusOK, s.do("GET", "/openapi/v3", "")).header.Get("ETag")
	for _, r := range kinds.Resources(feature.At(feature.Oldest)) {
		if r.Group == "coordination.k8s.io" {
			s.remove(r)
		}
	}
	if after := s.do("GET", "/apis", "", acceptV2).header.Get("ETag"); after == before {
		t.Error("the removal of a group does not change the ETag")
	}
	if after := s.do("GET", "/openapi/v3", "").header.Get("ETag"); after == openapiBefore {
		t.Error("the removal of a group does not change the ETag of the OpenAPI index")
	}
	s.must(http.StatusNotFound, s.do("GET", "/apis/coordination.k8s.io", ""))
	s.must(http.StatusNotFound, s.do("GET", "/openapi/v3/apis/coordination.k8s.io/v1", ""))
}

// Groups and lists of resources equal the documents of kube-apiserver v1.36.3, including the
// storage version hashes.
func TestLegacyDiscoveryMatchesKubeAPIServer(t *testing.T) {
	s := newStorelessServer(t, nil)
	recorded := map[string]any{}
	readJSON(t, "testdata/discovery/legacy.json", &recorded)
	for path, want := range recorded {
		for _, path := range []string{path, path + "/"} {
			var got any
			parseJSON(t, s.must(http.StatusOK, s.do("GET", path, "")).body, &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-kube-apiserver +miniapi):\n%s", path, diff)
			}
		}
	}
}

func TestLegacyVersions(t *testing.T) {
	s := newStorelessServer(t, nil)
	for _, path := range []string{"/api", "/api/"} {
		var got map[string]any
		parseJSON(t, s.must(http.StatusOK, s.do("GET", path, "")).body, &got)
		want := map[string]any{
			"kind":     "APIVersions",
			"versions": []any{"v1"},
			"serverAddressByClientCIDRs": []any{map[string]any{
				"clientCIDR": "0.0.0.0/0", "serverAddress": s.http.Listener.Addr().String(),
			}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestDiscoveryOfUnknownPaths(t *testing.T) {
	s := newStorelessServer(t, nil)
	const page = "404 page not found\n"
	for path, isPage := range map[string]bool{
		"/nope": true, "/logs": true, "/apis/nope": true, "/apis/nope/v1": true,
		"/api/v2": false, "/apis/apps/v2": false,
	} {
		r := s.must(http.StatusNotFound, s.do("GET", path, ""))
		if (r.body == page) != isPage {
			t.Errorf("%s: %s", path, r.body)
		}
		if isPage {
			continue
		}
		var status metav1.Status
		parseJSON(t, r.body, &status)
		if status.Reason != metav1.StatusReasonNotFound || status.Message != "the server could not find the requested resource" {
			t.Errorf("%s: %s", path, r.body)
		}
	}
}

func TestDiscoveryMediaTypes(t *testing.T) {
	s := newStorelessServer(t, nil)
	if r := s.must(http.StatusOK, s.do("GET", "/apis", "", "Accept: application/yaml")); !strings.HasPrefix(r.body, "apiVersion: v1\n") {
		t.Errorf("YAML: %.60s", r.body)
	}
	if r := s.must(http.StatusOK, s.do("GET", "/api/v1", "", "Accept: application/vnd.kubernetes.protobuf")); !strings.HasPrefix(r.body, "k8s\x00") {
		t.Errorf("protobuf: %.60q", r.body)
	}
	s.must(http.StatusNotAcceptable, s.do("GET", "/apis/apps/v1", "", "Accept: text/html"))
}

// As in kube-apiserver, some paths require GET.
func TestDiscoveryMethods(t *testing.T) {
	s := newStorelessServer(t, nil)
	for path, status := range map[string]int{
		"/apis": http.StatusOK, "/apis/apps": http.StatusOK,
		"/api": http.StatusMethodNotAllowed, "/api/v1": http.StatusMethodNotAllowed, "/apis/apps/v1": http.StatusMethodNotAllowed,
	} {
		s.must(status, s.do("POST", path, ""))
	}
}

// The servers of a process share equal documents.
func TestServersShareDocuments(t *testing.T) {
	a, b := newStorelessServer(t, nil), newStorelessServer(t, nil)
	if a.api.documents.Documents(t.Context()) != b.api.documents.Documents(t.Context()) {
		t.Error("two servers with the same resources do not share their documents")
	}
	other := newStorelessServer(t, func(c *Config) { c.Version.EmulationMinor = "35" })
	if a.api.documents.Documents(t.Context()) == other.api.documents.Documents(t.Context()) {
		t.Error("two servers of different releases share their documents")
	}
	b.remove(kinds.Resources(feature.At(feature.Oldest))[0])
	if a.api.documents.Documents(t.Context()) == b.api.documents.Documents(t.Context()) {
		t.Error("a server whose catalog changed keeps the old documents")
	}
}

// remove removes a resource from the catalog.
func (s *testServer) remove(r *registry.Resource) {
	s.t.Helper()
	if err := s.api.config.Catalog.Replace([]*registry.Resource{r}, nil); err != nil {
		s.t.Fatal(err)
	}
}
