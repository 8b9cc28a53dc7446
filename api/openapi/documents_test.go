package openapi_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/api/openapi"
)

// recording holds the OpenAPI documents of kube-apiserver v1.36.3. Of the schemas it has only the
// kinds.
type recording struct {
	Index []string
	V3    map[string]struct {
		Info            map[string]any
		OpenAPI         string
		Paths           map[string]any
		SecuritySchemes map[string]any
		Kinds           map[string][]any
	}
	// V2Paths holds the methods of some paths, V2Kinds the kinds of some definitions.
	V2Paths map[string][]string
	V2Kinds map[string][]any
}

func readRecording(t *testing.T) recording {
	t.Helper()
	file, err := os.Open("testdata/kube-apiserver.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded recording
	if err := json.NewDecoder(r).Decode(&recorded); err != nil {
		t.Fatal(err)
	}
	return recorded
}

// document holds the members of an OpenAPI document that tests use, of both versions.
type document struct {
	OpenAPI, Swagger string
	Info             map[string]any
	Paths            map[string]any
	Definitions      map[string]map[string]any
	Components       struct {
		Schemas         map[string]map[string]any
		SecuritySchemes map[string]any
	}
}

func parse(t *testing.T, d *openapi.Document, err error) document {
	t.Helper()
	if err != nil || d == nil {
		t.Fatalf("the document is %v, error %v", d, err)
	}
	var parsed document
	if err := json.Unmarshal(d.JSON(), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// newTypes lists types that are newer than the recording.
var newTypes = []string{
	"io.k8s.api.storage.v1.CSINodeStatus",
	"io.k8s.api.storage.v1.StorageHealth",
	"io.k8s.api.storage.v1.StorageHealthCondition",
}

func kindsOf(schema map[string]any) []any {
	kinds, _ := schema["x-kubernetes-group-version-kind"].([]any)
	if kinds == nil {
		return []any{}
	}
	return kinds
}

// Paths, operations and parameters equal those of kube-apiserver; schemas have the same names and
// kinds.
func TestV3EqualsKubeAPIServer(t *testing.T) {
	documents := newDocuments(t)
	for path, want := range readRecording(t).V3 {
		t.Run(path, func(t *testing.T) {
			d, err := documents.V3(path)
			got := parse(t, d, err)
			if diff := cmp.Diff(want.Paths, got.Paths); diff != "" {
				t.Errorf("paths (-kube-apiserver +miniapi):\n%s", diff)
			}
			kinds := map[string][]any{}
			for name, schema := range got.Components.Schemas {
				if !slices.Contains(newTypes, name) {
					kinds[name] = kindsOf(schema)
				}
			}
			if diff := cmp.Diff(want.Kinds, kinds); diff != "" {
				t.Errorf("kinds of schemas (-kube-apiserver +miniapi):\n%s", diff)
			}
			if diff := cmp.Diff(want.SecuritySchemes, got.Components.SecuritySchemes); diff != "" {
				t.Errorf("security schemes (-kube-apiserver +miniapi):\n%s", diff)
			}
			if got.OpenAPI != want.OpenAPI || !cmp.Equal(got.Info, want.Info) {
				t.Errorf("header is %q %v, want %q %v", got.OpenAPI, got.Info, want.OpenAPI, want.Info)
			}
		})
	}
}

func TestIndexLinksEveryDocument(t *testing.T) {
	documents := newDocuments(t)
	index, err := documents.Index()
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(index, &parsed); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for path, link := range parsed.Paths {
		paths = append(paths, path)
		d, err := documents.V3(path)
		if err != nil || d == nil {
			t.Fatalf("document of %s: %v, %v", path, d, err)
		}
		if want := "/openapi/v3/" + path + "?hash=" + d.Hash; link.ServerRelativeURL != want {
			t.Errorf("link of %s is %s, want %s", path, link.ServerRelativeURL, want)
		}
	}
	slices.Sort(paths)
	if diff := cmp.Diff(readRecording(t).Index, paths); diff != "" {
		t.Errorf("paths (-kube-apiserver +miniapi):\n%s", diff)
	}
}

func TestMethodsAndKindsOfV2EqualKubeAPIServer(t *testing.T) {
	d, err := newDocuments(t).V2()
	got := parse(t, d, err)
	recorded := readRecording(t)
	for path, want := range recorded.V2Paths {
		var methods []string
		operations, _ := got.Paths[path].(map[string]any)
		for method := range operations {
			methods = append(methods, method)
		}
		slices.Sort(methods)
		if diff := cmp.Diff(want, methods); diff != "" {
			t.Errorf("%s (-kube-apiserver +miniapi):\n%s", path, diff)
		}
	}
	for name, want := range recorded.V2Kinds {
		schema, ok := got.Definitions[name]
		if !ok {
			t.Errorf("no definition of %s", name)
			continue
		}
		if diff := cmp.Diff(want, kindsOf(schema)); diff != "" {
			t.Errorf("kinds of %s (-kube-apiserver +miniapi):\n%s", name, diff)
		}
	}
}
