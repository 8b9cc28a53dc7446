package fieldsv1

// change is a node in the tree of the changed fields.
type change struct {
	element element
	// end is the index after the last node below this one.
	end   int
	flags flags
}

// flags are the changes of a field itself.
type flags uint8

const (
	added flags = 1 << iota
	modified
	removed
	// unowned fields have no manager.
	unowned

	// changed fields are removed from the fields of their managers.
	changed = added | modified | removed
)

// owned reports whether the writer owns the field.
func (f flags) owned() bool { return f&(added|modified) != 0 && f&unowned == 0 }

// changes is a tree of changed fields, in the order of FieldsV1: each node is followed by the nodes
// below it.
type changes struct {
	nodes []change
	// failed: the objects are not supported.
	failed bool
}

// present returns the change of a field that has a value before, after, or both.
func present(before, after bool) flags {
	switch {
	case !before:
		return added
	case !after:
		return removed
	}
	return 0
}

// open begins a node. close must follow.
func (c *changes) open(e element) int {
	c.nodes = append(c.nodes, change{element: e})
	return len(c.nodes) - 1
}

// close ends the node with an index. It removes nodes without changes and excluded nodes: these are
// only compared to find values that are not supported.
func (c *changes) close(index int, f flags, s *scope) {
	if s != nil && s.unowned {
		f |= unowned
	}
	if f&changed == 0 && len(c.nodes) == index+1 || s.excludes() {
		c.nodes = c.nodes[:index]
		return
	}
	if !c.nodes[index].element.isPlain() {
		c.failed = true
	}
	c.nodes[index].flags, c.nodes[index].end = f, len(c.nodes)
}

// leaf adds the node of a leaf, if it has changed.
func (c *changes) leaf(e element, f flags, s *scope) {
	if f&changed != 0 {
		c.close(c.open(e), f, s)
	}
}

// owned reports whether the writer owns a change.
func (c *changes) owned() bool {
	for i := range c.nodes {
		if c.nodes[i].flags.owned() {
			return true
		}
	}
	return false
}

// reset removes all changes.
func (c *changes) reset() {
	clear(c.nodes)
	c.nodes, c.failed = c.nodes[:0], false
}
