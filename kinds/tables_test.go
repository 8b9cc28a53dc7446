package kinds_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// table is the answer of kube-apiserver to kubectl get.
type table struct {
	ColumnDefinitions []metav1.TableColumnDefinition
	Rows              []struct {
		Name  string
		Cells []any
	}
}

// isDefaultTable reports whether a kind defines no columns.
func isDefaultTable(r *registry.Resource) bool { return r.Columns.Row == nil }

func TestColumnsMatchKubeAPIServer(t *testing.T) {
	recorded := load[map[string]table](t, "tables.json")
	seen := map[string]bool{}
	for _, r := range kinds.Resources(feature.At(36)) {
		for _, v := range r.Versions {
			name := tableName(r, v)
			want, ok := recorded[name]
			if !ok {
				continue
			}
			seen[name] = true
			if isDefaultTable(r) {
				if len(want.ColumnDefinitions) != 2 || want.ColumnDefinitions[1].Name != "Created At" {
					t.Errorf("%s defines no columns, but should", name)
				}
				continue
			}
			if diff := gocmp.Diff(want.ColumnDefinitions, r.Columns.Definitions); diff != "" {
				t.Errorf("%s (-recorded +ours):\n%s", name, diff)
			}
		}
	}
	for name := range recorded {
		if !seen[name] {
			t.Errorf("%s is not served", name)
		}
	}
}

func tableName(r *registry.Resource, v registry.Version) string {
	if r.Group == "" {
		return v.Name + "/" + r.Name
	}
	return fmt.Sprintf("%s/%s/%s", r.Group, v.Name, r.Name)
}

func TestRowsMatchKubeAPIServer(t *testing.T) {
	recorded := load[map[string]table](t, "tables.json")
	hubs := map[string]runtime.Object{} // by kind and name, for all versions
	for _, c := range creations(t) {
		_, r, _, hub := c.object(t)
		accessor, err := meta.Accessor(hub)
		if err != nil {
			t.Fatal(err)
		}
		hubs[r.Kind+"/"+accessor.GetName()] = hub
	}
	hubs["FlowSchema/m"] = withControllersStatus(t)
	for _, r := range kinds.Resources(feature.At(36)) {
		for _, v := range r.Versions {
			for _, row := range recorded[tableName(r, v)].Rows {
				obj, ok := hubs[r.Kind+"/"+row.Name]
				if !ok || isDefaultTable(r) {
					continue
				}
				cells := registrytest.Cells(r, obj)
				if diff := gocmp.Diff(withoutAges(t, row.Cells), withoutAges(t, cells)); diff != "" {
					t.Errorf("%s %s (-recorded +ours):\n%s", tableName(r, v), row.Name, diff)
				}
			}
		}
	}
}

// withControllersStatus returns a flow schema with the status that it had when the table was
// recorded.
func withControllersStatus(t testing.TB) runtime.Object {
	t.Helper()
	obj, err := findKind(t, "flowcontrol.apiserver.k8s.io", "FlowSchema").Codec.Decode(values(t)["/registry/flowschemas/m"])
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

var age = regexp.MustCompile(`^([0-9]+[dhmsy])+$`)

// withoutAges replaces ages, and converts cells to the types of JSON.
func withoutAges(t testing.TB, cells []any) []any {
	t.Helper()
	data, err := json.Marshal(cells)
	if err != nil {
		t.Fatal(err)
	}
	var plain []any
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatal(err)
	}
	for i, cell := range plain {
		if s, ok := cell.(string); ok && age.MatchString(s) {
			plain[i] = "AGE"
		}
	}
	return plain
}
