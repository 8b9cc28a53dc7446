package api

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/fieldtree"
)

// fieldsFunc returns the fields of current that a patch touches. It returns false if the patch has
// to be applied to the whole object.
type fieldsFunc func(p *patch, current runtime.Object) (*fieldtree.Tree, bool)

// applyToFields applies a patch to an object that has only the fields that the patch touches, and
// sets these in a copy of current. It returns false if the patch has to be applied to the whole
// object. So has each patch with an error or a warning, because their texts contain the object.
func (p *patch) applyToFields(apply patchFunc, fields fieldsFunc, current runtime.Object) (runtime.Object, bool) {
	empty := p.call.newBody()
	if reflect.TypeOf(empty) != reflect.TypeOf(current) {
		return nil, false
	}
	tree, ok := fields(p, current)
	if !ok {
		return nil, false
	}
	patched, strictErrs, err := apply(p, tree.Reduce(empty, current))
	if err != nil || len(strictErrs) > 0 {
		return nil, false
	}
	whole := current.DeepCopyObject()
	return whole, tree.Copy(whole, patched)
}
