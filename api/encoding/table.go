package encoding

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// TableOptions describe a Table.
type TableOptions struct {
	// IncludeObject selects the object field of rows: "" is Metadata.
	IncludeObject metav1.IncludeObjectPolicy
	// NoHeaders omits the column definitions, as in all but the first event of a watch.
	NoHeaders bool
	// Version is the group version of the Table, and of the metadata in its rows.
	Version schema.GroupVersion
	// Partial returns the object field under the policy Metadata.
	Partial func(obj runtime.Object) (*metav1.PartialObjectMetadata, error)
	// Full returns the object field under the policy Object: the object in the requested version,
	// with its type header.
	Full func(obj runtime.Object) (runtime.RawExtension, error)
	// ListMeta is the metadata of the list. If it has no resourceVersion and there is one object,
	// the Table has the resourceVersion of the object.
	ListMeta metav1.ListMeta
	// Now returns the time at which ages are determined. Nil: time.Now.
	Now func() time.Time
}

// NewTable returns the Table of objects in the hub version. Cells such as ages depend on the
// current time.
func NewTable(columns registry.Columns, objs []runtime.Object, opts TableOptions) (*metav1.Table, error) {
	table := &metav1.Table{
		TypeMeta: metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: "Table"},
		ListMeta: opts.ListMeta,
		Rows:     make([]metav1.TableRow, 0, len(objs)),
	}
	if columns.Row == nil {
		columns = defaultColumns()
		table.Rows = nil // null without objects, as in kube-apiserver
	}
	if !opts.NoHeaders {
		table.ColumnDefinitions = columns.Definitions
	}
	for _, obj := range objs {
		row, err := tableRow(columns, obj, opts)
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, row)
	}
	if table.ResourceVersion == "" && len(objs) == 1 {
		m, err := meta.Accessor(objs[0])
		if err != nil {
			return nil, err
		}
		table.ResourceVersion = m.GetResourceVersion()
	}
	return table, nil
}

func tableRow(columns registry.Columns, obj runtime.Object, opts TableOptions) (metav1.TableRow, error) {
	cells, conditions := columns.Row(obj)
	opts.setAges(cells)
	row := metav1.TableRow{Cells: cells, Conditions: conditions}
	switch opts.IncludeObject {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		full, err := opts.Full(obj)
		if err != nil {
			return row, fmt.Errorf("object of a table row: %w", err)
		}
		row.Object = full
	default:
		partial, err := opts.Partial(obj)
		if err != nil {
			return row, fmt.Errorf("metadata of a table row: %w", err)
		}
		partial.SetGroupVersionKind(opts.Version.WithKind("PartialObjectMetadata"))
		row.Object = runtime.RawExtension{Object: partial}
	}
	return row, nil
}

// setAges replaces cells with the time since a time by their texts.
func (o *TableOptions) setAges(cells []any) {
	for i, cell := range cells {
		elapsed, ok := cell.(registry.Elapsed)
		if !ok {
			continue
		}
		now := time.Now()
		if o.Now != nil {
			now = o.Now()
		}
		cells[i] = elapsed.Text(now)
	}
}

// defaultColumns returns the columns of a resource that defines none.
func defaultColumns() registry.Columns {
	docs := metav1.ObjectMeta{}.SwaggerDoc()
	return registry.Columns{
		Definitions: []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: docs["name"]},
			{Name: "Created At", Type: "date", Description: docs["creationTimestamp"]},
		},
		Row: func(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
			m, err := meta.Accessor(obj)
			if err != nil {
				return []any{"<unknown>", "<unknown>"}, nil
			}
			return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}, nil
		},
	}
}
