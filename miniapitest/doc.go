// Package miniapitest starts a Kubernetes API server for one test.
//
//	func TestController(t *testing.T) {
//		server := miniapitest.Start(t, miniapitest.Options{})
//		client, err := kubernetes.NewForConfig(server.RESTConfig())
//		...
//	}
//
// [Start] takes milliseconds, so no test needs to share a server, clean up, or avoid t.Parallel.
//
// The server runs in another process, the host, which the tests of all packages share: see
// `miniapi host --help`. So this module works with every version of k8s.io that a project uses,
// and adds nothing to it. Start finds the miniapi command in this order:
//
//  1. the file that the environment variable MINIAPI_BIN names,
//  2. miniapi in PATH,
//  3. a binary of this module's version in the user's cache directory. The first test builds it,
//     which takes minutes, with `go install` outside of the module of the test.
//
// The first test starts the host. The host ends when it has had no server for some minutes.
//
// No controller of workloads and no pod runs, as with envtest. Options.Controllers and Options.Pods
// add controllers and simulated pods.
//
// Beyond the Kubernetes API, [Server.Settle] and [Server.WaitFor] wait without polling,
// [Server.Advance] advances the clock, [Server.Inject] injects failures, [Server.Conflicts]
// explains conflicts, and [Server.AddUser] returns the client configuration of another user. A
// [Template] is a prepared server that is forked for each test. [RunFaultSuite] runs a controller
// once for each failure that every controller must survive.
//
// A server ends with its test, or with the process of the test. The server logs to the test:
// warnings and errors by default, or from Options.LogLevel on.
//
// When a test fails, its log has the last 50 requests to the server, with the resourceVersions that
// they sent and received, and the names of the objects that exist. Two environment variables keep
// more:
//
//   - MINIAPI_KEEP=1 keeps the server of a failed test. The log has the path of its kubeconfig and
//     the command that stops the server. It ends by itself after 30 minutes without requests.
//   - MINIAPI_KUBECONFIG names a file, as an absolute path, that each test writes the kubeconfig of
//     its server to when the server starts. Run a single test (go test -run) to use it, for example
//     with kubectl while a debugger has stopped the test.
//
// A request that is still open at the end of the test belongs to a client that was not stopped,
// such as an informer or a manager. The log of the test names each of them. Clients that end with
// the context of the test get a short time to close their requests. Since only that time
// separates the two cases, open requests fail the test only with Options.FailOnLeak.
package miniapitest
