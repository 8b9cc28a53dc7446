package fieldtree

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Pointers returns the fields of an object at JSON pointers (RFC 6901). It returns false if the
// object has no tree, or if a pointer names no field.
func (l *Layouts) Pointers(obj runtime.Object, pointers []string) (*Tree, bool) {
	b, ok := l.root(obj)
	for _, p := range pointers {
		ok = ok && b.pointer(p)
	}
	return b.tree, ok
}

func (b builder) pointer(pointer string) bool {
	for inside := true; inside; {
		rest, absolute := strings.CutPrefix(pointer, "/")
		if !absolute {
			return false
		}
		name, after, more := strings.Cut(rest, "/")
		name = unescape.Replace(name)
		if !more {
			return b.whole(name)
		}
		var ok bool
		if b, inside, ok = b.enter(name); !ok {
			return false
		}
		pointer = "/" + after
	}
	return true
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")
