package crd

import structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

// schemaFeatures are the features that a schema uses. Most schemas use none, and the walk through
// the object that each feature needs can be skipped.
type schemaFeatures struct {
	embedded bool // embedded objects
	lists    bool // lists that are sets or maps
	defaults bool
}

// featuresOf returns the features of a schema, which may be nil.
func featuresOf(structure *structuralschema.Structural) schemaFeatures {
	var f schemaFeatures
	if structure == nil {
		return f
	}
	visitor := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		f.embedded = f.embedded || s.XEmbeddedResource
		f.lists = f.lists || s.XListType != nil
		f.defaults = f.defaults || s.Default.Object != nil
		return false
	}}
	visitor.Visit(structure)
	return f
}
