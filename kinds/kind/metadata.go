package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// BareStatus is the strategy of a status whose writes change nothing else; other
// kinds let the writer of a status change labels and annotations too.
func BareStatus() registry.UpdateStrategy {
	return registry.UpdateStrategy{Prepare: KeepMetadata, Owns: Except("metadata", "spec")}
}

// KeepMetadata puts back what clients may say in metadata.
func KeepMetadata(_ context.Context, obj, old runtime.Object) {
	metav1.ResetObjectMetaForStatus(objectMeta(obj), objectMeta(old))
}
