// Package testapi adds features for tests to the Kubernetes API: the journal of writes (package
// journal), explained conflicts (package conflicts) and the history of objects (package history).
// Package faults, which is independent of them, injects failures into requests. API objects
// are in the group miniapi.dev/v1alpha1.
//
// A server without the test APIs builds none of it. The parts attach to the registry by interfaces
// of the registry and of storage: [github.com/miniapi/miniapi/registry.CatalogConfig] has one field
// for each.
package testapi
