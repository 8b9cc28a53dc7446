package fieldsv1

import "sigs.k8s.io/structured-merge-diff/v6/schema"

// Empties reports whether a configuration has null or an empty map where the object has fields, or
// null where it has items. The plan must be of unstructured objects.
func (p *Plan) Empties(config, live map[string]any) bool {
	w := p.walks.Get().(*walk)
	defer func() {
		w.reset()
		p.walks.Put(w)
	}()
	return w.emptiesMap(p.root, p.scope, config, live) || w.failed
}

func (w *walk) emptiesMap(n *node, s *scope, config, live map[string]any) bool {
	for name, v := range config {
		if inner := s.field(name); !inner.ignores() && w.empties(n.field(name), inner, v, live[name]) {
			return true
		}
	}
	return false
}

func (w *walk) empties(n *node, s *scope, config, live any) bool {
	switch live := live.(type) {
	case map[string]any:
		fields, _ := config.(map[string]any)
		if len(fields) == 0 {
			return len(live) > 0
		}
		return n.atom.Map.ElementRelationship != schema.Atomic && w.emptiesMap(n, s, fields, live)
	case []any:
		items, _ := config.([]any)
		if items == nil {
			return len(live) > 0
		}
		return n.atom.List.ElementRelationship != schema.Atomic && w.emptiesList(n, s, items, live)
	}
	return false
}

func (w *walk) emptiesList(n *node, s *scope, config, live []any) (found bool) {
	base := len(w.items)
	for side, list := range [][]any{config, live} {
		for i, v := range list {
			e, ok := w.anyElement(n, v)
			if !ok {
				w.failed = true
				return false
			}
			w.items = append(w.items, item{e, i, side == 1})
		}
	}
	w.pairs(base, func(_ element, i, j int) {
		if i >= 0 && j >= 0 && w.empties(n.item.node(), s, config[i], live[j]) {
			found = true
		}
	})
	w.items = w.items[:base]
	return found
}
