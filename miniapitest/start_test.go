package miniapitest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/miniapitest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// send sends a request with the credentials of a client configuration and returns the status
// code and the body of the answer.
func send(t testing.TB, config *rest.Config, method, path, body string) (int, string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	check(t, err)
	defer client.CloseIdleConnections()
	request, err := http.NewRequest(method, config.Host+path, strings.NewReader(body))
	check(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	check(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	check(t, err)
	return response.StatusCode, string(data)
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func TestParallelTestsAreIsolated(t *testing.T) {
	for i := 0; i < 30; i++ {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			server := miniapitest.Start(t, miniapitest.Options{})
			if code, body := send(t, server.RESTConfig(), "POST", configMaps, `{"metadata":{"name":"same"}}`); code != 201 {
				t.Errorf("%d: %s", code, body)
			}
		})
	}
}

func TestStaleUpdateConflicts(t *testing.T) {
	config := miniapitest.Start(t, miniapitest.Options{}).RESTConfig()
	_, created := send(t, config, "POST", configMaps, `{"metadata":{"name":"settings"}}`)
	if code, body := send(t, config, "PUT", configMaps+"/settings", `{"metadata":{"name":"settings"},"data":{"a":"b"}}`); code != 200 {
		t.Fatalf("%d: %s", code, body)
	}
	code, body := send(t, config, "PUT", configMaps+"/settings", created)
	if code != 409 || !strings.Contains(body, "please apply your changes to the latest version and try again") {
		t.Errorf("%d: %s", code, body)
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	var server *miniapitest.Server
	got := runTest(func(t testing.TB) {
		server = miniapitest.Start(t, miniapitest.Options{})
		t.Cleanup(func() { // runs before the cleanup of Start
			if code, body := send(t, server.RESTConfig(), "GET", "/readyz", ""); code != 200 {
				t.Errorf("%d: %s", code, body)
			}
		})
	})
	if got.failed || got.log.Len() > 0 {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
	if _, err := http.Get(server.URL()); err == nil {
		t.Error("the server answers after its test")
	}
}

func TestStopBeforeTheEndOfTheTest(t *testing.T) {
	got := runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{})
		check(t, server.Stop(context.Background()))
		check(t, server.Stop(context.Background()))
	})
	if got.failed || got.log.Len() > 0 {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
}

func TestInvalidOptionsEndTheTest(t *testing.T) {
	got := runTest(func(t testing.TB) {
		miniapitest.Start(t, miniapitest.Options{LogLevel: slog.LevelDebug, Authorization: "None"})
		t.Logf("it went on")
	})
	const want = "miniapitest: the server of TestRecorded did not start: "
	if text := got.log.String(); !got.failed || !strings.HasPrefix(text, want) || !strings.Contains(text, `"None"`) || strings.Contains(text, "went on") {
		t.Errorf("failed %v: %s", got.failed, text)
	}
}

func TestMissingBinaryEndsTheTest(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for value, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "MINIAPI_BIN: stat ",
		"":                                 "Three ways to get one: set MINIAPI_BIN to a binary; put miniapi into PATH",
	} {
		t.Setenv("MINIAPI_BIN", value)
		got := runTest(func(t testing.TB) { miniapitest.Start(t, miniapitest.Options{}) })
		if text := got.log.String(); !got.failed || !strings.Contains(text, want) {
			t.Errorf("failed %v: %s", got.failed, text)
		}
	}
}

// A program that is not miniapi fails the test at once.
func TestOtherProgramEndsTheTest(t *testing.T) {
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "other.exe")
	check(t, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	if output, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Setenv("MINIAPI_BIN", binary)
	got := runTest(func(t testing.TB) { miniapitest.Start(t, miniapitest.Options{}) })
	if text := got.log.String(); !got.failed || !strings.Contains(text, "other.exe is not the miniapi command") {
		t.Errorf("failed %v: %s", got.failed, text)
	}
}

// A host that dies fails the tests of its servers with the last lines of its log.
func TestHostThatDies(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // a host of its own
	got := runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{})
		killHost(t, server)
	})
	text := got.log.String()
	if !got.failed || !strings.Contains(text, "stopped during the test: ") || !strings.Contains(text, `msg="started a server"`) {
		t.Errorf("failed %v: %s", got.failed, text)
	}
}

// Another release of the command has another host.
func TestEachBinaryHasItsHost(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	other := filepath.Join(t.TempDir(), "miniapi.exe")
	data, err := os.ReadFile(os.Getenv("MINIAPI_BIN"))
	check(t, err)
	check(t, os.WriteFile(other, data, 0o700))
	first := miniapitest.Start(t, miniapitest.Options{})
	same := miniapitest.Start(t, miniapitest.Options{})
	t.Setenv("MINIAPI_BIN", other)
	second := miniapitest.Start(t, miniapitest.Options{})
	if first.HostPID(t) != same.HostPID(t) || first.HostPID(t) == second.HostPID(t) {
		t.Errorf("hosts %d, %d and %d of another binary", first.HostPID(t), same.HostPID(t), second.HostPID(t))
	}
}

// killHost kills the host of a server and waits until the server has noticed.
func killHost(t testing.TB, server *miniapitest.Server) {
	t.Helper()
	process, err := os.FindProcess(server.HostPID(t))
	check(t, err)
	check(t, process.Kill())
	server.AwaitEnd()
}

func TestLogOfTheServer(t *testing.T) {
	start := func(options miniapitest.Options) string {
		return runTest(func(t testing.TB) {
			server := miniapitest.Start(t, options)
			send(t, server.RESTConfig(), "GET", "/version", "")
		}).log.String()
	}
	if got := start(miniapitest.Options{}); strings.Contains(got, "level=INFO") {
		t.Errorf("by default: %s", got)
	}
	if got := start(miniapitest.Options{LogLevel: slog.LevelDebug}); !strings.Contains(got, "msg=request verb=get") || strings.Contains(got, "component=etcd") {
		t.Errorf("debug: %q", got)
	}
}

func TestUsersOfRBAC(t *testing.T) {
	for _, tls := range []bool{false, true} {
		server := miniapitest.Start(t, miniapitest.Options{TLS: tls, Authorization: "RBAC"})
		jane, err := server.AddUser("jane", "developers")
		check(t, err)
		if code, body := send(t, jane, "GET", configMaps, ""); code != 403 || !strings.Contains(body, `User \"jane\" cannot list`) {
			t.Errorf("TLS %v: jane: %d: %s", tls, code, body)
		}
		if code, body := send(t, server.RESTConfig(), "GET", configMaps, ""); code != 200 {
			t.Errorf("TLS %v: administrator: %d: %s", tls, code, body)
		}
		if hasCA := len(server.FrontProxyCA()) > 0; hasCA != tls {
			t.Errorf("TLS %v: front proxy CA: %v", tls, hasCA)
		}
	}
}

// A deleted namespace goes away only if its controller runs.
func TestControllers(t *testing.T) {
	const namespaces = "/api/v1/namespaces"
	deleteNamespace := func(controllers ...string) *rest.Config {
		config := miniapitest.Start(t, miniapitest.Options{Controllers: controllers}).RESTConfig()
		if code, body := send(t, config, "POST", namespaces, `{"metadata":{"name":"a"}}`); code != 201 {
			t.Fatalf("%d: %s", code, body)
		}
		if code, body := send(t, config, "DELETE", namespaces+"/a", ""); code != 200 {
			t.Fatalf("%d: %s", code, body)
		}
		return config
	}
	without := []*rest.Config{deleteNamespace("-*"), deleteNamespace("*", "-namespace"), deleteNamespace("garbagecollector")}
	for _, with := range []*rest.Config{deleteNamespace(), deleteNamespace("*"), deleteNamespace("namespace-controller")} {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			code, body := send(t, with, "GET", namespaces+"/a", "")
			if code == 404 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d: %s", code, body)
			}
		}
	}
	for i, config := range without {
		if code, body := send(t, config, "GET", namespaces+"/a", ""); code != 200 || !strings.Contains(body, `"phase":"Terminating"`) {
			t.Errorf("server %d without the controller: %d: %s", i, code, body)
		}
	}
}

func TestUnknownController(t *testing.T) {
	got := runTest(func(t testing.TB) { miniapitest.Start(t, miniapitest.Options{Controllers: []string{"namespaces"}}) })
	if !got.failed || strings.Count(got.log.String(), "\n") != 1 || !strings.Contains(got.log.String(), `controller "namespaces" is unknown: use *, or `) {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func TestCRDs(t *testing.T) {
	changeDirectory(t, t.TempDir()) // relative paths start at the directory of the test, not of the host
	check(t, os.WriteFile("crd.yaml", []byte(definition), 0o600))
	atStart := miniapitest.Start(t, miniapitest.Options{CRDs: []string{"crd.yaml"}})
	later := miniapitest.Start(t, miniapitest.Options{})
	check(t, later.InstallCRDs(context.Background(), "crd.yaml"))
	for _, server := range []*miniapitest.Server{atStart, later} {
		if code, body := send(t, server.RESTConfig(), "GET", "/apis/example.com/v1/widgets", ""); code != 200 {
			t.Errorf("%d: %s", code, body)
		}
	}
	if err := later.InstallCRDs(context.Background(), "missing.yaml"); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("a missing file: %v", err)
	}
}

// changeDirectory changes the working directory until the end of the test.
func changeDirectory(t *testing.T, dir string) {
	t.Helper()
	old, err := os.Getwd()
	check(t, err)
	check(t, os.Chdir(dir))
	t.Cleanup(func() { check(t, os.Chdir(old)) })
}

func TestKubeconfig(t *testing.T) {
	server := miniapitest.Start(t, miniapitest.Options{})
	if text := string(server.Kubeconfig()); !strings.Contains(text, "server: "+server.URL()) {
		t.Error(text)
	}
}

func TestOpenRequestsAreReported(t *testing.T) {
	for _, fail := range []bool{false, true} {
		var watch io.Closer
		got := runTest(func(t testing.TB) {
			server := miniapitest.Start(t, miniapitest.Options{FailOnLeak: fail})
			response, err := http.Get(server.URL() + "/api/v1/pods?watch=true")
			check(t, err)
			watch = response.Body
			if open, err := server.OpenRequests(context.Background()); err != nil || len(open) != 1 || open[0].Verb != "watch" {
				t.Errorf("open requests: %v, %v", open, err)
			}
		})
		check(t, watch.Close())
		want := regexp.MustCompile(`^miniapitest: TestRecorded is over, and clients of its server http://127.0.0.1:\d+ ` +
			`still have requests open: stop them before the test ends` + "\n\t" +
			`watch: GET /api/v1/pods\?watch=true by "Go-http-client/1.1", open for \S+s` + "\n$")
		if got.failed != fail || !want.MatchString(got.log.String()) {
			t.Errorf("failed %v: %s", got.failed, &got.log)
		}
	}
}

func TestRequestsThatEndInTimeAreNotReported(t *testing.T) {
	got := runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{FailOnLeak: true})
		response, err := http.Get(server.URL() + "/api/v1/pods?watch=true")
		check(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
	})
	if got.failed || got.log.Len() > 0 {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
}

// The module must not raise the versions of its users: see the README.
func TestModuleRequiresAnOldClientGo(t *testing.T) {
	data, err := os.ReadFile("go.mod")
	check(t, err)
	if direct := regexp.MustCompile(`(?s)require [^(].*?\n`).FindAllString(string(data), -1); len(direct) != 1 ||
		!strings.HasPrefix(direct[0], "require k8s.io/client-go v0.28.") {
		encoded, _ := json.Marshal(direct)
		t.Errorf("go.mod requires %s", encoded)
	}
}
