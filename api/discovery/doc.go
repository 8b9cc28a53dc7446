// Package discovery builds and serves the documents that describe a server: its API groups,
// versions and resources, the index of its paths, and its version.
//
//   - [Cache] (cache.go) returns the [Documents] of the current catalog. Servers of one process
//     with equal catalogs share them.
//   - build.go derives the discovery documents from a catalog; aggregated.go encodes the
//     documents of all groups as one.
//   - [Handlers] (handlers.go, index.go) serves them. Package api mounts its methods.
//
// The OpenAPI documents are built in package openapi. [Documents] holds them too, because they
// describe the same state of the catalog.
package discovery
