package kind

import "k8s.io/apimachinery/pkg/runtime"

// Defaults adapts a function of a kind's own type for Definition.Default.
func Defaults[T runtime.Object](fill func(obj T)) func(runtime.Object) {
	return func(obj runtime.Object) { fill(obj.(T)) }
}

// Fill sets a field that has its zero value.
func Fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// FillNil sets a field that is nil. It allocates only then.
func FillNil[T any](field **T, value T) {
	if *field == nil {
		*field = new(value)
	}
}
