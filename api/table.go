package api

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// tableOptions say how a Table is made.
type tableOptions struct {
	// IncludeObject says what a row carries of its object; "" is Metadata.
	IncludeObject metav1.IncludeObjectPolicy
	// NoHeaders leaves the column definitions out, as in the later events of a
	// watch.
	NoHeaders bool
	// Version of the metadata that rows carry: the Table's own.
	Version schema.GroupVersion
	// Partial makes what a row carries under the policy Metadata.
	Partial func(obj runtime.Object) (*metav1.PartialObjectMetadata, error)
	// Full makes what a row carries under the policy Object: the object in the
	// version the client asked for, type header included.
	Full func(obj runtime.Object) (runtime.RawExtension, error)
	// ListMeta of the list that the objects came from. Where it has no
	// resourceVersion and there is one object, that object's is taken.
	ListMeta metav1.ListMeta
}

// newTable makes the Table of objects in the hub version, which it does not
// write to. Cells are computed now: ages move.
func newTable(columns registry.Columns, objs []runtime.Object, opts tableOptions) (*metav1.Table, error) {
	table := &metav1.Table{
		TypeMeta: metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: "Table"},
		ListMeta: opts.ListMeta,
		Rows:     make([]metav1.TableRow, 0, len(objs)),
	}
	if columns.Row == nil {
		columns = nameAndTime()
		table.Rows = nil // null where there are none, as from kube-apiserver
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

func tableRow(columns registry.Columns, obj runtime.Object, opts tableOptions) (metav1.TableRow, error) {
	cells, conditions := columns.Row(obj)
	row := metav1.TableRow{Cells: cells, Conditions: conditions}
	switch opts.IncludeObject {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		full, err := opts.Full(obj)
		if err != nil {
			return row, fmt.Errorf("object of a table's row: %w", err)
		}
		row.Object = full
	default:
		partial, err := opts.Partial(obj)
		if err != nil {
			return row, fmt.Errorf("metadata of a table's row: %w", err)
		}
		partial.SetGroupVersionKind(opts.Version.WithKind("PartialObjectMetadata"))
		row.Object = runtime.RawExtension{Object: partial}
	}
	return row, nil
}

// nameAndTime are the columns of a resource which declares none.
func nameAndTime() registry.Columns {
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
