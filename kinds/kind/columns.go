package kind

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// None is the cell of an absent value.
const None = "<none>"

// Wide is the priority of columns that kubectl prints with -o wide only.
const Wide = 1

// Column is one column of a kind's Table: its definition and the function that returns its cells.
type Column[T Object] struct {
	// Name of the column. Without a name the cell has no definition.
	Name string
	// Type is an OpenAPI type: integer, boolean, string. "" is string.
	Type        string
	Format      string
	Description string
	// Priority is 0, or Wide.
	Priority int32
	// Cell returns a string, a bool or an int64.
	Cell func(obj T) any
	// Gate adds the column only while it is enabled.
	Gate feature.Gate
}

// If returns the column with a gate.
func (c Column[T]) If(gate feature.Gate) Column[T] {
	c.Gate = gate
	return c
}

// TextColumn returns a column of the type string.
func TextColumn[T Object](name, description string, cell func(obj T) any) Column[T] {
	return Column[T]{Name: name, Description: description, Cell: cell}
}

// WideColumn returns a column of the type string that kubectl prints with -o wide only.
func WideColumn[T Object](name, description string, cell func(obj T) any) Column[T] {
	return Column[T]{Name: name, Description: description, Cell: cell, Priority: Wide}
}

// IntegerColumn returns a column of the type integer.
func IntegerColumn[T Object](name, description string, cell func(obj T) any) Column[T] {
	return Column[T]{Name: name, Description: description, Cell: cell, Type: "integer"}
}

// BooleanColumn returns a column of the type boolean.
func BooleanColumn[T Object](name, description string, cell func(obj T) any) Column[T] {
	return Column[T]{Name: name, Description: description, Cell: cell, Type: "boolean"}
}

// NameColumn returns the first column of most kinds.
func NameColumn[T Object]() Column[T] {
	return Column[T]{
		Name: "Name", Format: "name", Description: MetaDoc("name"),
		Cell: func(obj T) any { return obj.GetName() },
	}
}

// NameDefinition returns the definition of NameColumn.
func NameDefinition() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{
		Name: "Name", Type: "string", Format: "name", Description: MetaDoc("name"),
	}
}

// AgeColumn returns the column of the time since an object's creation.
func AgeColumn[T Object]() Column[T] {
	return Column[T]{
		Name: "Age", Description: MetaDoc("creationTimestamp"),
		Cell: func(obj T) any { return Age(obj.GetCreationTimestamp()) },
	}
}

// StandardColumns returns the name, the given columns and the age, the columns of most kinds.
func StandardColumns[T Object](columns ...Column[T]) []Column[T] {
	return slices.Concat([]Column[T]{NameColumn[T]()}, columns, []Column[T]{AgeColumn[T]()})
}

// MetaDoc returns the documentation of a field of metadata.
func MetaDoc(name string) string {
	return metav1.ObjectMeta{}.SwaggerDoc()[name]
}

// FieldDoc returns the documentation of a field. Older releases have the Go name in it.
func FieldDoc(features *feature.Set, doc, jsonName, goName string) string {
	if features.Enabled(feature.FieldNamesInDocs) {
		return doc
	}
	if rest, ok := strings.CutPrefix(doc, jsonName); ok {
		return goName + rest
	}
	return doc
}

// Age returns the cell of the time since t.
func Age(t metav1.Time) registry.Elapsed { return registry.Elapsed{Since: t} }

func enabledColumns[T Object](columns []Column[T], features *feature.Set) []Column[T] {
	return slices.DeleteFunc(slices.Clone(columns), func(c Column[T]) bool { return !features.Enabled(c.Gate) })
}

// tableColumns erases the type of columns. No columns give the zero value.
func tableColumns[T Object](columns []Column[T]) registry.Columns {
	if len(columns) == 0 {
		return registry.Columns{}
	}
	definitions := make([]metav1.TableColumnDefinition, 0, len(columns))
	for i := range columns {
		if columns[i].Name != "" {
			definitions = append(definitions, columns[i].definition())
		}
	}
	return registry.Columns{
		Definitions: definitions,
		Row: func(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
			return cells(columns, obj.(T)), nil
		},
	}
}

func (c *Column[T]) definition() metav1.TableColumnDefinition {
	d := metav1.TableColumnDefinition{
		Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
	}
	if d.Type == "" {
		d.Type = "string"
	}
	return d
}

func cells[T Object](columns []Column[T], obj T) []any {
	row := make([]any, len(columns))
	for i := range columns {
		row[i] = columns[i].Cell(obj)
	}
	return row
}
