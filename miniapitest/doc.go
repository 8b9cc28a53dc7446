// Package miniapitest starts a Kubernetes API server for one test.
//
//	func TestController(t *testing.T) {
//		server := miniapitest.Start(t, miniapitest.Options{})
//		client, err := kubernetes.NewForConfig(server.RESTConfig())
//		...
//	}
//
// [Start] takes about ten milliseconds and one megabyte, so no test needs to share a
// server, clean up, or avoid t.Parallel. The server is a [miniapi.Server], configured
// by Options.Config.
//
// The server ends with its test: it stops after the test and the cleanups that were
// registered after Start. If it had failed before, the test fails. The server logs
// to the test: warnings and errors by default, or from Options.LogLevel on.
//
// A request that is still open at the end of the test belongs to a client that was
// not stopped, such as an informer or a manager. The log of the test names each of
// them. Clients that end with t.Context() get a short time to close their requests.
// Since only that time separates the two cases, open requests fail the test only
// with Options.FailOnLeak.
package miniapitest
