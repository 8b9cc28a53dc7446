package api

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const acceptTable = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// tableOf requests a Table and returns it as parsed JSON.
func tableOf(s *testServer, path string) map[string]any {
	s.t.Helper()
	var table map[string]any
	parseJSON(s.t, s.must(http.StatusOK, s.do("GET", path, "", acceptTable)).body, &table)
	if table["kind"] != "Table" || table["apiVersion"] != "meta.k8s.io/v1" {
		s.t.Errorf("%s is a %v %v", path, table["apiVersion"], table["kind"])
	}
	return table
}

func row(table map[string]any, i int) map[string]any {
	return table["rows"].([]any)[i].(map[string]any)
}

func TestIncludeObjectOfTableRows(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "1")
	const path = "/api/v1/namespaces/default/configmaps"
	for name, tc := range map[string]struct {
		query            string
		kind, apiVersion any
		data             bool
	}{
		"metadata by default": {"", "PartialObjectMetadata", "meta.k8s.io/v1", false},
		"metadata":            {"?includeObject=Metadata", "PartialObjectMetadata", "meta.k8s.io/v1", false},
		"object":              {"?includeObject=Object", "ConfigMap", "v1", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{path, path + "/a"} {
				object := row(tableOf(s, path+tc.query), 0)["object"].(map[string]any)
				if object["kind"] != tc.kind || object["apiVersion"] != tc.apiVersion {
					t.Errorf("%s: a row contains a %v %v", path, object["apiVersion"], object["kind"])
				}
				if _, ok := object["data"]; ok != tc.data {
					t.Errorf("%s: a row contains %v", path, object)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if object := row(tableOf(s, path+"?includeObject=None"), 0)["object"]; object != nil {
			t.Errorf("a row contains %v", object)
		}
	})
}

// The metadata in the rows has the version of the Table.
func TestTableOfVersionV1beta1(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "1")
	var table map[string]any
	accept := "Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io"
	parseJSON(t, s.must(http.StatusOK, s.do("GET", "/api/v1/configmaps", "", accept)).body, &table)
	if version := row(table, 0)["object"].(map[string]any)["apiVersion"]; version != "meta.k8s.io/v1beta1" || table["apiVersion"] != version {
		t.Errorf("a %v has a row with %v", table["apiVersion"], version)
	}
}

func TestTableMetadata(t *testing.T) {
	s := newTestServer(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		s.configMap(name, "1")
	}
	const path = "/api/v1/namespaces/default/configmaps"
	var object metav1.PartialObjectMetadata
	parseJSON(t, s.do("GET", path+"/a", "").body, &object)
	one := tableOf(s, path+"/a")
	if diff := cmp.Diff(map[string]any{"resourceVersion": object.ResourceVersion}, one["metadata"]); diff != "" {
		t.Errorf("the table of one object has its version (-want +got):\n%s", diff)
	}
	page := tableOf(s, path+"?limit=1")["metadata"].(map[string]any)
	if page["continue"] == nil || page["remainingItemCount"] != 2.0 || page["resourceVersion"] == object.ResourceVersion {
		t.Errorf("the table of a page has the page's metadata, got %v", page)
	}
	empty := tableOf(s, path+"?labelSelector=none")
	if rows := empty["rows"].([]any); len(rows) != 0 || len(empty["columnDefinitions"].([]any)) != 3 {
		t.Errorf("an empty table has columns and no rows, got %v", empty)
	}
}

// The default columns are the name and the creation time.
func TestTableOfKindWithoutColumns(t *testing.T) {
	s := newTestServer(t, nil)
	if rows := tableOf(s, "/api/v1/namespaces/default/limitranges")["rows"]; rows != nil {
		t.Errorf("without objects the rows are %v, want null", rows)
	}
	s.must(http.StatusCreated, s.do("POST", "/api/v1/namespaces/default/limitranges", `{"metadata":{"name":"a"},"spec":{"limits":[]}}`))
	table := tableOf(s, "/api/v1/namespaces/default/limitranges")
	var names []any
	for _, column := range table["columnDefinitions"].([]any) {
		names = append(names, column.(map[string]any)["name"])
	}
	if diff := cmp.Diff([]any{"Name", "Created At"}, names); diff != "" {
		t.Error(diff)
	}
	first := row(table, 0)
	created := first["object"].(map[string]any)["metadata"].(map[string]any)["creationTimestamp"]
	if diff := cmp.Diff([]any{"a", created}, first["cells"]); diff != "" {
		t.Error(diff)
	}
}
