// Package api is the HTTP layer: it decodes requests for package registry and encodes its results.
// It contains no kind; it serves the resources of a [registry.Catalog], which may
// change while the server runs.
//
// The path of a request:
//
//   - routes.go lists the filters and the routes
//   - dispatch.go finds the resource and the verb, or answers 404 or 405; proxy.go forwards
//     requests for group versions of other servers
//   - one file per verb (get.go, list.go, watch.go, create.go, update.go, patch.go, delete.go,
//     connect.go) reads the options (options.go) and calls the registry
//   - request_body.go reads and decodes bodies; a patch type is a file patch_*.go and an entry of
//     the table in patch.go
//   - respond.go and list.go send the results in the negotiated format
//
// The packages below it:
//
//   - request: parses the verb, resource and name of a request
//   - filters: the filters that every request passes before its handler
//   - encoding: media types, decoding, encoding, and the writing of responses and errors
//   - discovery, openapi: the documents that describe the resources
//   - lifecycle: the open requests and the shutdown
//   - metrics, healthz: the metrics of requests, and the health checks
//
// Objects cross the border to registry in the version they are stored in; call.go converts.
// Objects that registry returns are shared and immutable. Their type header (apiVersion and kind)
// is added while they are encoded.
//
// [Server.Shutdown] ends watches and waits for the requests in flight. A write runs in its own
// goroutine (write.go), which may outlive the response if it does not end by the deadline; it
// counts as in flight until then. No other goroutine outlives its request.
package api
