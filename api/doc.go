// Package api is the REST layer: it turns an HTTP request into what package
// registry understands, and what registry returns into bytes. It knows no kind;
// everything it serves it looks up in a [registry.Catalog], which may change
// while it runs.
//
// A request's way:
//
//   - routes.go mounts the middleware (one file per behaviour: panic.go,
//     lifecycle.go, hostguard.go, user.go, warning.go, ...) and the handlers
//   - request.go reads the path; dispatch.go looks the resource up and finds the
//     verb, or says 404 or 405
//   - one file per verb (get.go, list.go, watch.go, create.go, update.go,
//     patch.go, delete.go, connect.go) reads the options and calls the registry
//   - decode.go reads bodies; a patch type is a file, patch_*.go, and a row of
//     the table in patch.go
//   - media.go is the table of encodings and their watch frames; negotiate.go
//     chooses one, encode*.go write it down, respond.go and list_write.go send it
//   - status.go is the one place where an error becomes a Status
//
// Objects cross the border to registry in the version they are stored in;
// version.go converts. Objects that registry returns are shared: nothing here
// writes to them. The type header (apiVersion and kind) is added while sending.
//
// [Server.Shutdown] ends watches and waits for the requests in flight. A write
// runs in a goroutine (finish.go), which may outlive its request if it does not
// end by the deadline; it counts as in flight until then. No other goroutine
// outlives its request.
package api
