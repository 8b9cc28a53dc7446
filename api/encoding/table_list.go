package encoding

import (
	"encoding/json"
	"iter"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// TableList is the Table of a list.
type TableList struct {
	Columns registry.Columns
	Options TableOptions
	// Len is the number of objects, Largest the approximate size of the largest one in bytes.
	Len, Largest int
	// Objects yields the objects in the hub version.
	Objects iter.Seq2[runtime.Object, error]
}

// WriteTable sends the Table of a list row by row, with the errors of WriteList.
func (p *Responder) WriteTable(w http.ResponseWriter, r *http.Request, f Format, t TableList) error {
	head, err := NewTable(t.Columns, nil, t.Options)
	if err != nil {
		return err
	}
	columns, err := json.Marshal(head.ColumnDefinitions)
	if err != nil {
		return err
	}
	return p.WriteList(w, r, f, List{
		Header: TypeHeader(f.As), Meta: head.ListMeta, Len: t.Len, Largest: t.Largest, Items: t.rows(),
		columns: columns, nullIfEmpty: head.Rows == nil,
	})
}

// rows yields the rows in JSON.
func (t TableList) rows() iter.Seq2[Body, error] {
	columns := t.Columns
	if columns.Row == nil {
		columns = defaultColumns()
	}
	return func(yield func(Body, error) bool) {
		for obj, err := range t.Objects {
			var row Body
			if err == nil {
				row, err = encodeRow(columns, obj, t.Options)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func encodeRow(columns registry.Columns, obj runtime.Object, options TableOptions) (Body, error) {
	row, err := tableRow(columns, obj, options)
	if err != nil {
		return Body{}, err
	}
	bytes, err := json.Marshal(row)
	return Body{bytes: bytes}, err
}
