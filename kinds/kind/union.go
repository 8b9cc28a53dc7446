package kind

import "k8s.io/apimachinery/pkg/util/validation/field"

// OnlyOne looks at fields of which one may be set.
type OnlyOne struct {
	At      *field.Path // of what has the fields
	Refusal string      // of a second one

	Found bool
	Errs  field.ErrorList
}

// Take looks at what is inside a field if it is the first that is set. Names
// are what the field is called where it is refused and, if that differs, where
// something inside is.
func Take[T any](o *OnlyOne, source *T, validate func(*T, *field.Path) field.ErrorList, names ...string) {
	switch {
	case source == nil:
	case o.Found:
		o.Errs = append(o.Errs, field.Forbidden(o.At.Child(names[0]), o.Refusal))
	default:
		o.Found = true
		o.Errs = append(o.Errs, validate(source, o.At.Child(names[len(names)-1]))...)
	}
}
