package miniapitest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Options configures a server for a test. The zero value suits most tests: plain HTTP on a free
// loopback port, where every client is the administrator.
type Options struct {
	// TLS serves HTTPS to clients with credentials instead of plain HTTP.
	TLS bool
	// Authorization is AlwaysAllow (the default) or RBAC.
	Authorization string
	// DataDir is a directory that keeps the objects, the keys and the certificates after the end of
	// the server, so that a test can stop a server and start it again. Default: none.
	DataDir string
	// Address is the HOST:PORT on loopback at which the server listens, for example of a server
	// with the same DataDir that was stopped. Default: a free port.
	Address string
	// CRDs are files and folders of CustomResourceDefinitions that the server serves from the
	// start. Example: "../config/crd/bases".
	CRDs []string
	// Manifests is a folder of objects that exist from the start.
	Manifests string
	// EmulatedVersion is the Kubernetes release whose API is served, 1.36 or 1.37 (the default).
	EmulatedVersion string
	// FeatureGates enables and disables feature gates of kube-apiserver.
	FeatureGates map[string]bool
	// Bootstrap is minimal (the default) or full, all objects that kube-apiserver creates.
	Bootstrap string
	// Controllers lists the built-in controllers to run, in the syntax of --controllers of
	// kube-controller-manager: "*" is all that are on by default, "name" adds one, "-name" removes
	// one, "-*" alone runs none. Default: "*".
	Controllers []string
	// Pods is manual (the default) or instant: pods are bound to a node, and become ready,
	// completed or terminated at once. No container is executed.
	Pods string
	// EnableAdmissionPlugins and DisableAdmissionPlugins are as in kube-apiserver.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// ServiceClusterIPRange and ServiceNodePortRange are as in kube-apiserver.
	ServiceClusterIPRange, ServiceNodePortRange string

	// FrozenAt is the time of the API at the start, which stands still until Server.Advance.
	// Default: the time of the machine.
	FrozenAt time.Time

	// LogLevel is the lowest level that is logged. Default: slog.LevelWarn.
	LogLevel slog.Leveler
	// LogRequests logs a line to the test for each request, when it ends. With LogLevel
	// slog.LevelDebug, requests are always logged.
	LogRequests bool
	// DisableTestAPIs switches off what the server has beyond the Kubernetes API: the group
	// miniapi.dev and the explanation of conflicts.
	DisableTestAPIs bool
	// KeepOnFailure keeps the server up when the test has failed: the test prints the URL and a
	// kubeconfig, and waits until Ctrl-C, or until shortly before its deadline (go test -timeout).
	KeepOnFailure bool
	// FailOnLeak fails the test if requests are open at its end. By default they are only logged.
	FailOnLeak bool
}

// Start returns a server that answers requests and ends with the test. If the server cannot
// start, Start calls t.Fatal, so it must be called on the goroutine of the test.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	request, err := options.request()
	return startFor(t, options, request, err)
}

// startFor returns a server that ends with the test. It fails the test for an error of the request.
func startFor(t testing.TB, options Options, request serverOptions, err error) *Server {
	t.Helper()
	keepFailed, keepErr := keepsFailed()
	var server *Server
	if err = errors.Join(err, keepErr); err == nil {
		request.Name, request.Lease = t.Name(), "connection"
		server, err = start(t, request)
	}
	if err != nil {
		t.Fatalf("miniapitest: the server of %s did not start: %v", t.Name(), err)
	}
	server.options = options
	t.Cleanup(func() {
		t.Helper()
		failed := t.Failed()
		server.reportLeaks(t, options.FailOnLeak)
		if failed {
			server.reportFailure(t)
			if keepFailed && server.keep(t) {
				return
			}
			if options.KeepOnFailure {
				server.waitForInterrupt(t, options, os.Stderr)
			}
		}
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("miniapitest: the server of %s ended with an error: %v", t.Name(), err)
		}
	})
	return server
}

func start(t testing.TB, request serverOptions) (*Server, error) {
	var events *eventStream
	host, err := inHost(logTo(t), func(host *host) (err error) {
		events, err = host.startServer(request)
		return err
	})
	if err != nil {
		return nil, err
	}
	server := &Server{host: host, events: events, done: make(chan struct{})}
	first, err := events.next()
	if err != nil || first.Server == nil {
		events.close()
		return nil, host.explain(err)
	}
	server.description = *first.Server
	if err := writeKubeconfig(server.Kubeconfig()); err != nil {
		events.close()
		return nil, err
	}
	go server.follow(t) // ends in Stop
	return server, nil
}

// logTo returns a function that logs progress to a test.
func logTo(t testing.TB) func(format string, args ...any) {
	return func(format string, args ...any) { t.Logf("miniapitest: "+format, args...) }
}

// Limits of inHost. A host that is ending takes a moment, on a busy machine longer.
const (
	joinTimeout  = time.Minute
	joinInterval = 25 * time.Millisecond
)

// inHost calls send with a host. If the host is ending, it joins or starts another one.
func inHost(progress func(format string, args ...any), send func(*host) error) (*host, error) {
	for deadline := time.Now().Add(joinTimeout); ; time.Sleep(joinInterval) {
		host, err := joinHost(progress)
		if err != nil {
			return nil, err
		}
		err = send(host)
		if err == nil || !errors.Is(err, errNotServed) || time.Now().After(deadline) {
			return host, err
		}
	}
}

// request returns the options in the form of the control API.
func (o Options) request() (serverOptions, error) {
	request := serverOptions{
		EmulatedVersion: o.EmulatedVersion, FeatureGates: o.FeatureGates,
		TLS: o.TLS, Authorization: o.Authorization, Bootstrap: o.Bootstrap,
		Controllers: o.Controllers, Pods: o.Pods,
		EnableAdmissionPlugins: o.EnableAdmissionPlugins, DisableAdmissionPlugins: o.DisableAdmissionPlugins,
		DisableTestAPIs:       o.DisableTestAPIs,
		ServiceClusterIPRange: o.ServiceClusterIPRange, ServiceNodePortRange: o.ServiceNodePortRange,
		LogRequests: o.LogRequests, Address: o.Address,
	}
	if o.LogLevel != nil {
		request.LogLevel = o.LogLevel.Level().String()
	}
	if !o.FrozenAt.IsZero() {
		request.FrozenAt = &o.FrozenAt
	}
	var err error
	if request.CRDs, err = absolute(o.CRDs); err != nil {
		return request, err
	}
	if request.Manifests, err = absolutePath(o.Manifests); err != nil {
		return request, err
	}
	request.DataDir, err = absolutePath(o.DataDir)
	return request, err
}

// absolutePath returns the absolute path, because the host has another working directory. An empty
// path stays empty.
func absolutePath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// absolute returns the absolute paths.
func absolute(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}
