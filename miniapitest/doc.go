// Package miniapitest gives a test a Kubernetes API server of its own.
//
//	func TestController(t *testing.T) {
//		server := miniapitest.Start(t, miniapitest.Options{})
//		client, err := kubernetes.NewForConfig(server.RESTConfig())
//		...
//	}
//
// [Start] takes some ten milliseconds and a megabyte, so that no test has to
// share a server, clean up after itself, or stay out of t.Parallel. The server
// is a [miniapi.Server]; Options.Config says how it differs from the default.
//
// It ends with its test: when the test and the cleanups registered after Start
// are through, the server stops, and a server which had failed by then fails
// the test. What it logs is the log of the test: warnings and errors, or as much
// as Options.LogLevel says.
//
// A request that is still open at that time belongs to a client which nobody
// stopped, such as the watches of an informer or a manager. The log of the test
// names each. A client that ends with t.Context() is none of them: it is given a
// moment to go. As it takes a clock to tell one from the other, a leak fails the
// test only if Options.FailOnLeak says so.
package miniapitest
