package crd

import structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

// traits tell which steps have anything to do with the objects of a schema: most
// schemas need none of these, and each is a walk through the object.
type traits struct {
	embedded bool // there are whole objects within the object
	lists    bool // there are lists that are sets or maps
	defaults bool
}

// traitsOf a structure, which may be nil.
func traitsOf(structure *structuralschema.Structural) traits {
	var t traits
	if structure == nil {
		return t
	}
	look := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		t.embedded = t.embedded || s.XEmbeddedResource
		t.lists = t.lists || s.XListType != nil
		t.defaults = t.defaults || s.Default.Object != nil
		return false
	}}
	look.Visit(structure)
	return t
}
