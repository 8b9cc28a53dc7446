// Package api is the HTTP layer: it decodes requests for package registry and encodes its results.
// It contains no kind; the resources that it serves are those of a [registry.Catalog], which may
// change while the server runs.
//
// The path of a request:
//
//   - routes.go mounts the filters and the handlers
//   - dispatch.go finds the resource and the verb, or answers 404 or 405; call.go describes the
//     request to the handlers
//   - one file per verb (get.go, list.go, watch.go, create.go, update.go, patch.go, delete.go,
//     connect.go) reads the options (options.go) and calls the registry
//   - request_body.go reads and decodes bodies; a patch type is a file patch_*.go and an entry of
//     the table in patch.go
//   - respond.go and list.go send the results in the negotiated format
//
// The packages below it: filters has the filter chain, request the attributes of a request,
// lifecycle the open requests, encoding the media types and the writing of responses and errors,
// openapi the OpenAPI documents.
//
// Objects cross the border to registry in the hub version, in which they are stored; call.go
// converts.
// Objects that registry returns are shared and immutable. Their type header (apiVersion and kind)
// is added while they are encoded.
//
// [Server.Shutdown] ends watches and waits for the requests in flight. A write runs in its own
// goroutine (write.go), which may outlive the response if it does not end by the deadline; it
// counts as in flight until then. No other goroutine outlives its request.
package api
