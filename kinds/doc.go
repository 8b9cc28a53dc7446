// Package kinds lists the built-in kinds. There is one package for each API group, and in it for
// each kind:
//
//	<kind>.go             its definition, columns and hooks
//	<kind>_defaults.go    its defaults
//	<kind>_validation.go  its validation
//	<kind>_warnings.go    its warnings
//
// Larger kinds have more files with the same prefix. Rules that several kinds of a group share are
// in files named after the shared part, such as rbac/binding_validation.go. Package podspec holds
// the rules of pod specs and volumes, package kind builds a registry.Resource from a definition,
// and package typed provides the merge rules of the built-in types for server-side apply.
//
// A new kind is a file in the package of its group and a line in the list there. A new group is a
// line in groups, with the imports that it needs. Then go generate ./api/openapi ./kinds/typed
// generates the schemas and merge rules of its types.
package kinds
