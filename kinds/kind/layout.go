package kind

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/semantic"
)

// layout holds the indexes of the fields of a kind's struct; -1: there is none.
type layout struct {
	spec, status int
	// body are the indexes of all fields but TypeMeta, ObjectMeta and Status.
	body []int
}

func layoutOf(t reflect.Type) layout {
	l := layout{spec: -1, status: -1}
	for i := range t.NumField() {
		switch t.Field(i).Name {
		case "TypeMeta", "ObjectMeta":
		case "Status":
			l.status = i
		case "Spec":
			l.spec = i
			l.body = append(l.body, i)
		default:
			l.body = append(l.body, i)
		}
	}
	return l
}

func structOf(obj runtime.Object) reflect.Value {
	return reflect.ValueOf(obj).Elem()
}

func (l layout) clearStatus(obj runtime.Object) {
	structOf(obj).Field(l.status).SetZero()
}

// copyStatus makes obj share the status of old.
func (l layout) copyStatus(obj, old runtime.Object) {
	structOf(obj).Field(l.status).Set(structOf(old).Field(l.status))
}

// keepAllButStatus makes obj share everything with old but metadata and status.
func (l layout) keepAllButStatus(obj, old runtime.Object) {
	to, from := structOf(obj), structOf(old)
	for _, i := range l.body {
		to.Field(i).Set(from.Field(i))
	}
}

func (l layout) specChanged(obj, old runtime.Object) bool {
	now, before := structOf(obj).Field(l.spec).Addr(), structOf(old).Field(l.spec).Addr()
	return !Same(now.Interface(), before.Interface())
}

// Same reports whether two values, pointers for large ones, are semantically equal: nil equals
// empty, and quantities and times are compared by value.
func Same(a, b any) bool { return semantic.Equal(a, b) }
