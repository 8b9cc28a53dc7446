package fieldsv1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Changed returns the lowest fields in which two objects differ, and false if it does not support
// the objects. Fields that the filter of the plan excludes are not compared, and neither are the
// managed fields, apiVersion and kind. Changed does not modify its arguments.
func (p *Plan) Changed(before, after runtime.Object) (*fieldpath.Set, bool) {
	w := p.walks.Get().(*walk)
	defer func() {
		w.reset()
		p.walks.Put(w)
	}()
	p.compare(w, before, after)
	if w.failed {
		return nil, false
	}
	set := &fieldpath.Set{}
	var path fieldpath.Path
	var above []int // the indexes of the nodes in path
	for i, node := range w.nodes {
		for len(above) > 0 && w.nodes[above[len(above)-1]].end <= i {
			above, path = above[:len(above)-1], path[:len(path)-1]
		}
		above, path = append(above, i), append(path, node.element.pathElement())
		if node.end == i+1 {
			set.Insert(path)
		}
	}
	return set, true
}

// pathElement returns the element as an element of a path.
func (e element) pathElement() fieldpath.PathElement {
	switch e.kind {
	case fieldElement:
		return fieldpath.PathElement{FieldName: &e.name}
	case keyElement:
		key := make(value.FieldList, len(e.keys))
		for i, name := range e.keys {
			key[i] = value.Field{Name: name, Value: e.values[i].value()}
		}
		return fieldpath.PathElement{Key: &key}
	default:
		v := e.values[0].value()
		return fieldpath.PathElement{Value: &v}
	}
}

func (s scalar) value() value.Value {
	if s.isNumber {
		return value.NewValueInterface(s.number)
	}
	return value.NewValueInterface(s.text)
}
