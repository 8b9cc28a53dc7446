// Package fieldtree selects the fields of an object that a patch touches, so that only these are
// encoded, patched and decoded.
//
// A [Tree] is a set of fields of one Go type. It goes as deep as a patch does through structs, and
// through lists that a strategic merge patch merges by a key. It ends at every other field: a map,
// a value or another list is touched as a whole. [Layouts] makes the trees of patches. [Tree.JSON]
// returns the document that has only the touched fields, and [Tree.Set] sets the touched fields of
// an object from the patched document.
//
// Invariant: a patch that is applied to the document of the touched fields changes them as it does
// in the document of the whole object, and no other fields. A patch whose effect may depend on
// other fields has no tree.
package fieldtree
