// Package match decides which writes webhooks and policies apply to, and converts these writes
// to the version that they expect.
//
// A Request is one write during a step of admission. Criteria select requests. The result is a
// Target: the resource and version to show the request in. With match policy Equivalent it can
// differ from the client's. All code that depends on versions is in Target.Show and
// Request.Replace.
package match
