package registry

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxFieldErrors is how many invalid fields a Status lists. Each of them takes
// space in its message and in its causes, and the time to build the message is
// quadratic.
const maxFieldErrors = 1000

// invalid returns the 422 of an object with invalid fields.
func invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	if found := len(errs); found > maxFieldErrors {
		errs = append(slices.Clone(errs[:maxFieldErrors]), field.TooMany(field.NewPath("errors"), found, maxFieldErrors))
	}
	return apierrors.NewInvalid(kind, name, errs)
}
