package plugin

import (
	"cmp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// forbidden returns a 403 for a rejected write.
func forbidden(a *registry.Attributes, reason error) *apierrors.StatusError {
	return apierrors.NewForbidden(a.Resource.GroupResource(), match.ShownName(a), reason)
}

// versionOf returns the version of the resource that a request was sent to.
func versionOf(a *registry.Attributes) string {
	return cmp.Or(a.Options.Version, a.Resource.Versions[0].Name)
}

// created returns the object of a creation, if it has type T.
func created[T any](a *registry.Attributes) (T, bool) {
	var none T
	if a.Operation != registry.OperationCreate || a.Subresource != "" {
		return none, false
	}
	obj, ok := a.Object.(T)
	return obj, ok
}

// updated returns the new and the stored object of an update of the resource itself, if they have
// type T.
func updated[T any](a *registry.Attributes) (obj, old T, ok bool) { return updatedBy[T](a, "") }

// written returns the object of a creation, or the new object of an update of the resource itself,
// if it has type T.
func written[T any](a *registry.Attributes) (T, bool) {
	if obj, ok := created[T](a); ok {
		return obj, true
	}
	obj, _, ok := updated[T](a)
	return obj, ok
}

// updatedBy is like updated, for an update of a subresource.
func updatedBy[T any](a *registry.Attributes, subresource string) (obj, old T, ok bool) {
	if a.Operation != registry.OperationUpdate || a.Subresource != subresource {
		return obj, old, false
	}
	old, _ = a.OldObject.(T)
	obj, ok = a.Object.(T)
	return obj, old, ok
}
