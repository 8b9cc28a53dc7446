// Package api is the REST layer: it turns an HTTP request into what package
// registry understands, and what registry returns into bytes. It knows no kind;
// everything it serves it looks up in a [registry.Catalog], which may change
// while it runs.
//
// A request's way:
//
//   - routes.go and the middleware (one file per behaviour: hostguard.go,
//     panic.go, lifecycle.go, user.go, warning.go, ...)
//   - request.go finds out what the path means: verb, group, version, resource,
//     namespace, name, subresource
//   - one file per verb (get.go, list.go, watch.go, create.go, update.go,
//     patch.go, delete.go) calls the registry
//   - decode.go reads bodies; media.go is the table of encodings and their
//     watch frames, negotiate.go chooses one, encode.go and respond.go write it
//   - status.go is the one place where an error becomes a Status
//   - what is no resource starts in index.go: surface.go holds what is derived
//     from the catalog (discovery here, OpenAPI in package openapi), lazily and
//     shared between servers; health.go and metrics.go are the operators'
//
// Objects cross the border to registry in the version they are stored in;
// version.go converts. Objects that registry returns are shared: nothing here
// writes to them. The type header (apiVersion and kind) is added while sending.
//
// [Server.Shutdown] ends watches and waits for the requests in flight. The
// package starts no goroutine that outlives its request.
package api
