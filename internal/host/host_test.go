package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/miniapi/miniapi/internal/host"
)

// clientOf returns a client of a kubeconfig.
func clientOf(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIdle(config) })
	return client
}

// closeIdle ends the idle connections of a client configuration.
func closeIdle(config *rest.Config) {
	if transport, err := rest.TransportFor(config); err == nil {
		if closer, ok := transport.(interface{ CloseIdleConnections() }); ok {
			closer.CloseIdleConnections()
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestServersAreIsolated(t *testing.T) {
	e := newEnv(t, host.Config{})
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			var server host.Server
			e.call("POST", "/v1/servers", host.ServerOptions{Name: fmt.Sprint(i)}, http.StatusCreated, &server)
			maps := clientOf(t, server.Kubeconfig).CoreV1().ConfigMaps("default")
			_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "same"}}, metav1.CreateOptions{})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if ids := e.ids(); len(ids) != 20 {
		t.Errorf("the host lists %v", ids)
	}
}

func TestServerIsListedUntilItIsDeleted(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{Name: "mine"})
	var got host.Server
	e.call("GET", "/v1/servers/"+server.ID, nil, http.StatusOK, &got)
	if got.Name != "mine" || got.URL != server.URL {
		t.Errorf("got %+v, want %+v", got, server)
	}
	e.call("DELETE", "/v1/servers/"+server.ID, nil, http.StatusNoContent, nil)
	e.call("DELETE", "/v1/servers/"+server.ID, nil, http.StatusNotFound, nil)
	if ids := e.ids(); len(ids) > 0 {
		t.Errorf("the host lists %v after the deletion", ids)
	}
	if _, err := http.Get(server.URL + "/readyz"); err == nil {
		t.Error("the server answers after its deletion")
	}
}

func TestConnectionLease(t *testing.T) {
	for name, end := range map[string]func(e *env, server host.Server, stream *events){
		"client closes the connection": func(e *env, _ host.Server, stream *events) { stream.close() },
		"client deletes the server": func(e *env, server host.Server, stream *events) {
			e.call("DELETE", "/v1/servers/"+server.ID, nil, http.StatusNoContent, nil)
			if last := stream.next(); last.Stopped == nil || last.Stopped.Error != "" {
				e.Errorf("the last event is %+v", last)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, host.Config{})
			server, stream := e.createLeased(host.ServerOptions{})
			if ids := e.ids(); !slices.Equal(ids, []string{server.ID}) {
				t.Errorf("the host lists %v", ids)
			}
			end(e, server, stream)
			e.awaitNoServer()
		})
	}
}

func TestProcessLease(t *testing.T) {
	e := newEnv(t, host.Config{})
	process := exec.Command("cat")
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	server := e.create(host.ServerOptions{Lease: host.LeasePID, PID: process.Process.Pid})
	if ids := e.ids(); !slices.Equal(ids, []string{server.ID}) {
		t.Errorf("the host lists %v", ids)
	}
	if err := errors.Join(stdin.Close(), process.Wait()); err != nil {
		t.Fatal(err)
	}
	e.awaitNoServer()
}

func TestIdleHostEnds(t *testing.T) {
	e := newEnv(t, host.Config{IdleTimeout: 100 * time.Millisecond})
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
}

func TestUnreachableHostEndsAfterItsLastServer(t *testing.T) {
	var removed atomic.Bool
	checked := make(chan struct{}, 100)
	e := newEnv(t, host.Config{Reachable: func() bool {
		if removed.Load() {
			checked <- struct{}{}
		}
		return !removed.Load()
	}})
	server, stream := e.createLeased(host.ServerOptions{})
	removed.Store(true)
	for range 2 { // the second check follows the decision of the first one
		<-checked
	}
	if ids := e.ids(); !slices.Equal(ids, []string{server.ID}) {
		t.Errorf("the host lists %v", ids)
	}
	stream.close()
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
}

func TestLogIsStreamed(t *testing.T) {
	e := newEnv(t, host.Config{})
	server, stream := e.createLeased(host.ServerOptions{LogLevel: "debug"})
	createConfigMap(t, server.Kubeconfig, "a")
	for {
		if event := stream.next(); strings.Contains(event.Log, "msg=request verb=create") {
			return
		}
	}
}

func TestStopEndsServersAndStreams(t *testing.T) {
	e := newEnv(t, host.Config{})
	e.create(host.ServerOptions{})
	_, stream := e.createLeased(host.ServerOptions{})
	e.stop()
	if last := stream.next(); last.Stopped == nil {
		t.Errorf("the last event is %+v", last)
	}
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
}

func TestUsers(t *testing.T) {
	e := newEnv(t, host.Config{})
	for _, tls := range []bool{false, true} {
		server := e.create(host.ServerOptions{
			TLS: tls, Authorization: "RBAC", Users: []host.UserOptions{{Name: "jane", Groups: []string{"dev"}}},
		})
		var later host.User
		e.call("POST", "/v1/servers/"+server.ID+"/users", host.UserOptions{Name: "joe"}, http.StatusOK, &later)
		for _, user := range append(server.Users, later) {
			_, err := clientOf(t, user.Kubeconfig).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "`+user.Name+`"`) {
				t.Errorf("TLS %v: %s lists secrets: %v", tls, user.Name, err)
			}
		}
		if _, err := clientOf(t, server.Kubeconfig).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("TLS %v: the administrator lists secrets: %v", tls, err)
		}
	}
}

func TestServersAreLimited(t *testing.T) {
	e := newEnv(t, host.Config{MaxServers: 2})
	e.call("POST", "/v1/servers", host.ServerOptions{Authorization: "None"}, http.StatusUnprocessableEntity, nil) // counts no longer
	first := e.create(host.ServerOptions{})
	_, leased := e.createLeased(host.ServerOptions{})
	var rejected host.Error
	e.call("POST", "/v1/servers", host.ServerOptions{Lease: host.LeaseConnection}, http.StatusTooManyRequests, &rejected)
	if !strings.HasPrefix(rejected.Error, "this host has 2 servers, its maximum: stop servers") {
		t.Error(rejected.Error)
	}
	e.call("DELETE", "/v1/servers/"+first.ID, nil, http.StatusNoContent, nil)
	e.create(host.ServerOptions{})
	leased.close()
	for len(e.ids()) > 1 && e.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	e.create(host.ServerOptions{})
}

func TestRequestsOfTheControlAPIAreLimited(t *testing.T) {
	e := newEnv(t, host.Config{})
	var rejected host.Error
	e.call("POST", "/v1/servers", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`, http.StatusBadRequest, &rejected)
	if !strings.Contains(rejected.Error, "request body too large") {
		t.Error(rejected.Error)
	}
	e.call("POST", "/v1/servers", host.ServerOptions{KeepRequests: 100_001}, http.StatusUnprocessableEntity, &rejected)
	if rejected.Error != "keepRequests 100001 is not a number from 0 to 100000" {
		t.Error(rejected.Error)
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
	path := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(path, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, host.Config{})
	atStart := e.create(host.ServerOptions{CRDs: []string{path}})
	later := e.create(host.ServerOptions{})
	e.call("POST", "/v1/servers/"+later.ID+"/crds", host.CRDOptions{Paths: []string{path}}, http.StatusNoContent, nil)
	for _, server := range []host.Server{atStart, later} {
		if _, err := clientOf(t, server.Kubeconfig).Discovery().ServerResourcesForGroupVersion("example.com/v1"); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRequestsAreListed(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{})
	watch, err := http.Get(server.URL + "/api/v1/pods?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	var open []host.OpenRequest
	e.call("GET", "/v1/servers/"+server.ID+"/requests/open", nil, http.StatusOK, &open)
	if len(open) != 1 || open[0].Verb != "watch" || open[0].URI != "/api/v1/pods?watch=true" {
		t.Errorf("open requests: %+v", open)
	}
	_ = watch.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	e.call("GET", "/v1/servers/"+server.ID+"/requests/open?wait=1m", nil, http.StatusOK, &open)
	if len(open) != 0 {
		t.Errorf("open requests after the end of the watch: %+v", open)
	}
}

func TestInvalidRequests(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{})
	for name, tc := range map[string]struct {
		method, path, body string
		code               int
		want               string
	}{
		"no JSON":            {"POST", "/v1/servers", `{`, 400, "the body is not valid: unexpected EOF"},
		"unknown field":      {"POST", "/v1/servers", `{"crd":[]}`, 400, `the body is not valid: unknown field "crd"`},
		"unknown lease":      {"POST", "/v1/servers", `{"lease":"x"}`, 422, `lease "x" is not one of "connection", "pid"`},
		"misspelled lease":   {"POST", "/v1/servers", `{"lease":"conection"}`, 422, `"pid": did you mean "connection"?`},
		"lease without pid":  {"POST", "/v1/servers", `{"lease":"pid"}`, 422, `lease "pid" needs the pid of a process`},
		"pid without lease":  {"POST", "/v1/servers", `{"pid":1}`, 422, `pid 1 is set without lease "pid"`},
		"unknown log level":  {"POST", "/v1/servers", `{"logLevel":"x"}`, 422, `logLevel "x" is not one of debug, info, warn, error`},
		"misspelled level":   {"POST", "/v1/servers", `{"logLevel":"wran"}`, 422, `error: did you mean "warn"?`},
		"relative path":      {"POST", "/v1/servers", `{"crds":["a"]}`, 422, `path "a" is not absolute`},
		"missing file":       {"POST", "/v1/servers", `{"crds":["/nonexistent"]}`, 422, "no such file"},
		"unknown mode":       {"POST", "/v1/servers", `{"authorization":"x"}`, 422, `"x"`},
		"user without name":  {"POST", "/v1/servers", `{"users":[{}]}`, 422, `"a user needs a name"`},
		"wrong wait":         {"GET", "/v1/servers/" + server.ID + "/requests/open?wait=x", ``, 422, "invalid duration"},
		"unknown server":     {"GET", "/v1/servers/x", ``, 404, `server "x" not found`},
		"a file without CRD": {"POST", "/v1/servers/" + server.ID + "/crds", `{"paths":["/dev/null/x"]}`, 422, "/dev/null/x"},
	} {
		t.Run(name, func(t *testing.T) {
			response := e.send(t.Context(), tc.method, tc.path, tc.body)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != tc.code || !strings.Contains(unquote(string(body)), tc.want) {
				t.Errorf("%s: %s, %v", response.Status, body, err)
			}
		})
	}
	if ids := e.ids(); !slices.Equal(ids, []string{server.ID}) {
		t.Errorf("the host lists %v", ids)
	}
}

func unquote(body string) string { return strings.ReplaceAll(body, `\"`, `"`) }

func TestTokenIsRequired(t *testing.T) {
	e := newEnv(t, host.Config{Token: "right"})
	e.call("GET", "/v1", nil, http.StatusOK, nil)
	for _, token := range []string{"", "wrong", "right2"} {
		e.token = token
		e.call("GET", "/v1", nil, http.StatusUnauthorized, nil)
		e.call("POST", "/v1/servers", nil, http.StatusUnauthorized, nil)
	}
	e.token = "right"
	if ids := e.ids(); len(ids) > 0 {
		t.Errorf("the host lists %v", ids)
	}
}

func TestSocketHasOneHost(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "host.sock")
	listener, release, err := host.ListenUnix(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := host.ListenUnix(t.Context(), socket); !errors.Is(err, host.ErrServed) {
		t.Errorf("a second host of the socket: %v", err)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
	if err := errors.Join(listener.Close(), release()); err != nil {
		t.Fatal(err)
	}
	listener, release, err = host.ListenUnix(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(listener.Close(), release()); err != nil {
		t.Fatal(err)
	}
}

// A host that was killed leaves its socket, but not its lock.
func TestSocketOfAKilledHostIsReplaced(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "host.sock")
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, release, err := host.ListenUnix(context.Background(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(listener.Close(), release()); err != nil {
		t.Fatal(err)
	}
}
