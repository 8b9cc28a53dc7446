package kind

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Column returns a column of the short form of a Table. The type is that of
// OpenAPI: string, integer, date.
func Column(name, typ, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: typ, Description: description}
}

// WideColumn returns a column which shows with -o wide only.
func WideColumn(name, typ, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: typ, Description: description, Priority: 1}
}

// NameColumn is the first column of every kind.
func NameColumn() metav1.TableColumnDefinition {
	c := Column("Name", "string", MetaDoc("name"))
	c.Format = "name"
	return c
}

// AgeColumn goes with the cells of Age.
func AgeColumn() metav1.TableColumnDefinition {
	return Column("Age", "string", MetaDoc("creationTimestamp"))
}

// MetaDoc returns the documentation of a field of metadata.
func MetaDoc(name string) string {
	return metav1.ObjectMeta{}.SwaggerDoc()[name]
}

// Age returns the cell of how long ago t was.
func Age(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}

// Row adapts a function of the kind's own type to registry.Columns. The kind
// has no row conditions.
func Row[T runtime.Object](cells func(obj T) []any) func(runtime.Object) ([]any, []metav1.TableRowCondition) {
	return func(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
		return cells(obj.(T)), nil
	}
}
