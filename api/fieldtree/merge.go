package fieldtree

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Merge returns the fields of an object that a JSON merge patch touches. It returns false if the
// object or the patch has no tree.
func (l *Layouts) Merge(obj runtime.Object, patch map[string]any) (*Tree, bool) {
	b, ok := l.root(obj)
	return b.tree, ok && b.merge(patch)
}

func (b builder) merge(patch map[string]any) bool {
	for name, value := range patch {
		members, isObject := value.(map[string]any)
		if !isObject {
			if !b.whole(name) {
				return false
			}
			continue
		}
		within, inside, ok := b.enter(name)
		if !ok || inside && !within.merge(members) {
			return false
		}
	}
	return true
}

// Directives of strategic merge patches. The first two concern the object that has them, the others
// the field whose name follows.
const (
	patchDirective, retainKeysDirective = "$patch", "$retainKeys"
	setElementOrderPrefix               = "$setElementOrder/"
	deleteFromListPrefix                = "$deleteFromPrimitiveList/"
)

// StrategicMerge returns the fields of an object that a strategic merge patch touches. It returns
// false if the object or the patch has no tree.
func (l *Layouts) StrategicMerge(obj runtime.Object, patch map[string]any) (*Tree, bool) {
	b, ok := l.root(obj)
	return b.tree, ok && !hasDirective(patch) && b.strategicMerge(patch)
}

func (b builder) strategicMerge(patch map[string]any) bool {
	for key, value := range patch {
		if !b.strategicMember(key, value) {
			return false
		}
	}
	return true
}

// strategicMember adds what a member of a strategic merge patch touches.
func (b builder) strategicMember(key string, value any) bool {
	if name, isOrder := strings.CutPrefix(key, setElementOrderPrefix); isOrder {
		return b.list(name, nil)
	}
	if name, deletes := strings.CutPrefix(key, deleteFromListPrefix); deletes {
		return b.whole(name)
	}
	switch value := value.(type) {
	case []any:
		return b.list(key, value)
	case map[string]any:
		if hasDirective(value) {
			return b.whole(key)
		}
		within, inside, ok := b.enter(key)
		return ok && (!inside || within.strategicMerge(value))
	default:
		return b.whole(key)
	}
}

// hasDirective reports whether an object of a patch has a directive that concerns all its fields.
func hasDirective(patch map[string]any) bool {
	_, replaces := patch[patchDirective]
	_, retains := patch[retainKeysDirective]
	return replaces || retains
}
