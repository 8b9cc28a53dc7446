package api

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/fieldtree"
)

// fieldsPatch is a patch of the fields that it touches.
type fieldsPatch struct {
	tree *fieldtree.Tree
	// apply applies the patch to the document of the touched fields.
	apply func(document []byte) ([]byte, error)
}

// fieldsFunc returns the patch of the touched fields of current, or nil if the patch has to be
// applied to the whole object. So has each patch with an error or a warning, because their texts
// contain the object.
type fieldsFunc func(p *patch, current runtime.Object) *fieldsPatch

// applyToFields applies a patch to the fields that it touches, in a copy of current. It returns
// false if the patch has to be applied to the whole object.
func (p *patch) applyToFields(fields fieldsFunc, current runtime.Object) (runtime.Object, bool) {
	if reflect.TypeOf(p.call.newBody()) != reflect.TypeOf(current) {
		return nil, false
	}
	touched := fields(p, current)
	if touched == nil {
		return nil, false
	}
	document, err := touched.tree.JSON(current)
	if err != nil {
		return nil, false
	}
	if document, err = touched.apply(document); err != nil {
		return nil, false
	}
	whole := current.DeepCopyObject()
	return whole, touched.tree.Set(whole, document)
}
