package kind

import "k8s.io/apimachinery/pkg/util/validation/field"

// Union validates fields of which one may be set.
type Union struct {
	At      *field.Path // of the struct with the fields
	Refusal string      // the error for a second field

	Found bool
	Errs  field.ErrorList
}

// Member validates a field if it is the first that is set, and rejects it otherwise. names are the
// name of the field in the rejection and, if it differs, the name in the errors of validate.
func Member[T any](o *Union, source *T, validate func(*T, *field.Path) field.ErrorList, names ...string) {
	switch {
	case source == nil:
	case o.Found:
		o.Errs = append(o.Errs, field.Forbidden(o.At.Child(names[0]), o.Refusal))
	default:
		o.Found = true
		o.Errs = append(o.Errs, validate(source, o.At.Child(names[len(names)-1]))...)
	}
}
