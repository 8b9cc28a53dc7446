package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// checkSize rejects an object that is too large for the storage before field managers, admission
// and validation process it: field managers take quadratic time. The error is the same as the
// error of the storage.
func (b *base) checkSize(obj runtime.Object) error {
	limit := b.catalog.config.MaxObjectBytes
	if limit == 0 {
		return nil
	}
	size := minStoredSize(obj)
	if size <= limit {
		return nil
	}
	return b.call("", "", "").interpret(fmt.Errorf("%w: it takes at least %d bytes, and the limit is %d", storage.ErrTooLarge, size, limit))
}

// minStoredSize returns a lower bound of the stored size of an object without its managed fields,
// which the server replaces.
func minStoredSize(obj runtime.Object) int {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		size := minJSONSize(o.Object)
		metadata, _ := o.Object["metadata"].(map[string]any)
		if managers, ok := metadata["managedFields"]; ok {
			size -= minJSONSize(map[string]any{"managedFields": managers})
		}
		return size
	case interface{ Size() int }: // of the protobuf encoding, which is smaller than JSON
		return o.Size() - managersSize(obj)
	}
	return 0
}

func managersSize(obj runtime.Object) int {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return 0
	}
	list := metav1.ObjectMeta{ManagedFields: accessor.GetManagedFields()}
	return list.Size()
}

// minJSONSize returns a lower bound of the size of a value in JSON.
func minJSONSize(value any) int {
	size := 0
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			size += len(key) + len(`"":,`) + minJSONSize(member)
		}
	case []any:
		for _, item := range v {
			size += len(",") + minJSONSize(item)
		}
	case string:
		size = len(v) + len(`""`)
	default:
		size = 1
	}
	return size
}
