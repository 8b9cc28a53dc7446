package encoding

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/registry"
)

// A Table that is written row by row has the same bytes as a Table that is encoded as a whole.
func TestTableListsEqualTables(t *testing.T) {
	p := NewResponder(Config{Scheme: kinds.Scheme()})
	named := registry.Columns{
		Definitions: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Description: "a <b>"}},
		Row:         func(obj runtime.Object) ([]any, []metav1.TableRowCondition) { return []any{"<x>", 1, nil}, nil },
	}
	partial := func(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
		return &metav1.PartialObjectMetadata{ObjectMeta: obj.(*corev1.Pod).ObjectMeta}, nil
	}
	for _, count := range []int{0, 1, 20} {
		for name, columns := range map[string]registry.Columns{"columns": named, "no columns": {}} {
			for _, noHeaders := range []bool{false, true} {
				options := TableOptions{Version: metav1.SchemeGroupVersion, Partial: partial, NoHeaders: noHeaders, ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
				objects := yamlPods(count)
				table, err := NewTable(columns, objects, options)
				if err != nil {
					t.Fatal(err)
				}
				for i := range p.mediaTypes {
					f := Format{MediaType: &p.mediaTypes[i], As: metav1.SchemeGroupVersion.WithKind("Table")}
					if !f.MediaType.tables {
						continue
					}
					want, err := f.encodeDocument(TypeHeader(f.As), table)
					if err != nil {
						t.Fatal(err)
					}
					w := httptest.NewRecorder()
					list := TableList{Columns: columns, Options: options, Len: count, Objects: withErrors(objects)}
					if err := p.WriteTable(w, httptest.NewRequest("GET", "/", nil), f, list); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(string(want), w.Body.String()); diff != "" {
						t.Errorf("%s as %s, %d pods, no headers %t (-want +got):\n%s", name, f.MediaType.Type, count, noHeaders, diff)
					}
				}
			}
		}
	}
}

// withErrors yields objects with nil errors.
func withErrors(objects []runtime.Object) func(yield func(runtime.Object, error) bool) {
	return func(yield func(runtime.Object, error) bool) {
		for _, obj := range objects {
			if !yield(obj, nil) {
				return
			}
		}
	}
}
