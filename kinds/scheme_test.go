package kinds_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// listOf returns nil for a kind without lists.
func listOf(v registry.Version) any {
	if v.NewList == nil {
		return nil
	}
	return v.NewList()
}

func recognizes(scheme *runtime.Scheme, obj any) error {
	typed, ok := obj.(runtime.Object)
	if !ok {
		return fmt.Errorf("%T is no object", obj)
	}
	_, _, err := scheme.ObjectKinds(typed)
	return err
}
