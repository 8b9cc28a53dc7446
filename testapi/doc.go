// Package testapi adds features for tests to the Kubernetes API: the journal of writes (package
// journal), explained conflicts (package conflicts), the history of objects (package history),
// the writes of a client with the changes that they have undone (package writes), the open
// watches, requests and state of the server (package activity), and snapshots of all objects
// (package snapshots). Package faults, which is independent of them and works without them, injects
// failures into requests. Package recording, a client and a proxy of any API server, records and
// replays requests. API objects are in the group miniapi.dev/v1alpha1.
//
// A server without the test APIs builds none of it. The parts attach to the registry by interfaces
// of the registry and of storage: [github.com/miniapi/miniapi/registry.CatalogConfig] has one field
// for each.
package testapi
