package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// BareStatus is the strategy of a status whose writes change nothing else; other
// kinds let the writer of a status change labels and annotations too.
func BareStatus() registry.UpdateStrategy {
	return registry.UpdateStrategy{Prepare: KeepMetadata, Owns: Except("metadata", "spec")}
}

// CheckedStatus is BareStatus with a Validate function, which may be adapted by
// CheckUpdate.
func CheckedStatus(validate func(ctx context.Context, obj, old runtime.Object) field.ErrorList) registry.UpdateStrategy {
	s := BareStatus()
	s.Validate = validate
	return s
}

// KeepMetadata puts back what clients may say in metadata.
func KeepMetadata(_ context.Context, obj, old runtime.Object) {
	metav1.ResetObjectMetaForStatus(objectMeta(obj), objectMeta(old))
}
