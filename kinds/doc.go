// Package kinds is the list of everything that is built in: one package per API
// group, one file per kind in it, and in that file all that is particular to
// the kind (names, strategy, selectable fields, columns, subresources). What
// is filled in where a client says nothing is in the group's defaults.go.
//
// Package kind, below this one, builds the registry's description of a kind
// from that; package typed knows how the fields of the types belong together.
// A new kind is a file in its group's package and a line in the group's list.
package kinds
