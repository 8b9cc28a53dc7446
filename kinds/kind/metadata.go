package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KeepMetadata puts back what clients may say in metadata. It is the Prepare of
// a status whose writes change nothing else; other kinds let the writer of a
// status change labels and annotations too.
func KeepMetadata(_ context.Context, obj, old runtime.Object) {
	metav1.ResetObjectMetaForStatus(objectMeta(obj), objectMeta(old))
}
