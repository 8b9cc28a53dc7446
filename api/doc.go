// Package api is the HTTP layer: it decodes requests for package registry and encodes its results.
// It contains no kind; the resources that it serves are those of a [registry.Catalog], which may
// change while the server runs.
//
// The path of a request:
//
//   - routes.go mounts the middleware (one file each: panic.go, lifecycle.go, hostguard.go,
//     user.go, warning.go, ...) and the handlers
//   - request_info.go parses the path; dispatch.go finds the resource and the verb, or answers
//     404 or 405
//   - one file per verb (get.go, list.go, watch.go, create.go, update.go, patch.go, delete.go,
//     connect.go) reads the options (options.go) and calls the registry
//   - request_body.go reads and decodes bodies; a patch type is a file patch_*.go and an entry of
//     the table in patch.go
//   - respond.go and list.go send the results in the negotiated format
//
// Package encoding has the media types, the decoders and encoders, and the writing of responses
// and errors.
//
// Objects cross the border to registry in the version they are stored in; version.go converts.
// Objects that registry returns are shared and immutable. Their type header (apiVersion and kind)
// is added while they are encoded.
//
// [Server.Shutdown] ends watches and waits for the requests in flight. A write runs in its own
// goroutine (write.go), which may outlive the response if it does not end by the deadline; it
// counts as in flight until then. No other goroutine outlives its request.
package api
