package miniapitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Server is a running API server. Its methods are safe for concurrent use.
type Server struct {
	host        *host
	options     Options
	description serverDescription
	events      *eventStream
	done        chan struct{} // closed when events has ended

	stopOnce sync.Once
	stopErr  error
	stopping atomic.Bool // the end of events is expected
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.description.URL }

// RESTConfig returns the client configuration of the administrator. It has no rate limit.
func (s *Server) RESTConfig() *rest.Config {
	config := s.baseConfig()
	config.BearerToken = s.description.Token
	return config
}

// baseConfig returns a client configuration without credentials.
func (s *Server) baseConfig() *rest.Config {
	config := &rest.Config{Host: s.description.URL, QPS: -1}
	if s.description.CA != "" {
		config.CAData = []byte(s.description.CA)
		config.ServerName = s.description.ServerName
	}
	return config
}

// AddUser returns the client configuration of another user, who is in the groups and in
// system:authenticated. With Options.TLS it has a client certificate. Over plain HTTP, where
// every client is the administrator, it impersonates the user.
func (s *Server) AddUser(name string, groups ...string) (*rest.Config, error) {
	var user userDescription
	err := s.call(context.Background(), http.MethodPost, "/users", userOptions{Name: name, Groups: groups}, &user)
	if err != nil {
		return nil, err
	}
	config := s.baseConfig()
	if user.Certificate == "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	} else {
		config.CertData, config.KeyData = []byte(user.Certificate), []byte(user.Key)
	}
	return config, nil
}

// Kubeconfig returns the kubeconfig of the administrator, in YAML.
func (s *Server) Kubeconfig() []byte { return []byte(s.description.Kubeconfig) }

// FrontProxyCA returns, in PEM, the certificate authority of the client certificate with which
// the server calls aggregated API servers. It is empty without Options.TLS.
func (s *Server) FrontProxyCA() []byte { return []byte(s.description.FrontProxyCA) }

// InstallCRDs creates or updates the CustomResourceDefinitions of files and folders, and returns
// when all are served. A path without definitions is an error.
func (s *Server) InstallCRDs(ctx context.Context, paths ...string) error {
	paths, err := absolute(paths)
	if err != nil {
		return err
	}
	return s.call(ctx, http.MethodPost, "/crds", crdOptions{Paths: paths}, nil)
}

// OpenRequests returns the requests that are being answered, watches among them, the oldest first.
func (s *Server) OpenRequests(ctx context.Context) ([]OpenRequest, error) {
	return s.openRequests(ctx, 0)
}

// openRequests waits until no request is open, but no longer than wait.
func (s *Server) openRequests(ctx context.Context, wait time.Duration) ([]OpenRequest, error) {
	var open []OpenRequest
	err := s.call(ctx, http.MethodGet, "/requests/open?wait="+wait.String(), nil, &open)
	return open, err
}

// Requests returns the last 50 requests that have been answered, the latest last. A watch is among
// them when it has ended.
func (s *Server) Requests(ctx context.Context) ([]Request, error) {
	var requests []Request
	err := s.call(ctx, http.MethodGet, "/requests", nil, &requests)
	return requests, err
}

// Conflicts returns the last 512 writes that were answered with a conflict, the latest last, so
// that a test can require that a controller causes none. There are none with
// Options.DisableTestAPIs.
func (s *Server) Conflicts(ctx context.Context) ([]Conflict, error) {
	var conflicts []Conflict
	err := s.call(ctx, http.MethodGet, "/conflicts", nil, &conflicts)
	return conflicts, err
}

// Writes returns the committed writes of a user after a revision, in the order of revisions. The
// last 8,192 writes to the server are known. There are none with Options.DisableTestAPIs.
func (s *Server) Writes(ctx context.Context, user string, after int64) ([]Write, error) {
	query := url.Values{"user": {user}, "after": {strconv.FormatInt(after, 10)}}
	var writes []Write
	err := s.call(ctx, http.MethodGet, "/writes?"+query.Encode(), nil, &writes)
	return writes, err
}

// call sends a request about the server to the host.
func (s *Server) call(ctx context.Context, method, path string, body, into any) error {
	return s.host.call(ctx, method, "/v1/servers/"+s.description.ID+path, body, into)
}

// Stop stops the server before the end of the test. It is idempotent. It returns an error if
// the server did not stop in an orderly way, for example because a request did not end in time.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopping.Store(true)
		s.stopErr = s.call(ctx, http.MethodDelete, "", nil, nil)
		if s.events == nil { // the server of a template
			return
		}
		if s.stopErr != nil { // the host may not end the stream
			s.events.close()
		}
		<-s.done // after the last line of the log was logged
		s.events.close()
	})
	return s.stopErr
}

// follow logs the events of the server to the test. It fails the test if the server ends before
// the test.
func (s *Server) follow(t testing.TB) {
	defer close(s.done)
	for {
		event, err := s.events.next()
		switch {
		case err == nil && event.Stopped == nil:
			t.Log(event.Log)
		case s.stopping.Load():
			return
		case err == nil:
			t.Errorf("miniapitest: the server of %s stopped during the test: %s", t.Name(), event.Stopped.Error)
			return
		default:
			t.Errorf("miniapitest: the server of %s stopped during the test: %v", t.Name(), s.host.explain(err))
			return
		}
	}
}

// Times that requests have to end after their clients were stopped. A test waits only while
// requests are open, and it waits longer before it fails: a server on a busy machine notices late
// that a connection was closed.
const (
	grace              = 250 * time.Millisecond
	graceBeforeFailure = 10 * time.Second
)

// reportLeaks reports the requests that are open after the grace period.
func (s *Server) reportLeaks(t testing.TB, fail bool) {
	t.Helper()
	if s.stopping.Load() {
		return
	}
	wait, report := grace, t.Logf
	if fail {
		wait, report = graceBeforeFailure, t.Errorf
	}
	open, err := s.openRequests(context.Background(), wait)
	if err != nil || len(open) == 0 { // stop reports a host that has ended
		return
	}
	report("miniapitest: %s is over, and clients of its server %s still have requests open: stop them before the test ends%s",
		t.Name(), s.URL(), lines(open))
}

func lines(open []OpenRequest) string {
	var text strings.Builder
	for _, request := range open {
		fmt.Fprintf(&text, "\n\t%v", request)
	}
	return text.String()
}

// String returns one line that helps to find the client.
func (o OpenRequest) String() string {
	return fmt.Sprintf("%s: %s %s by %q, open for %v",
		o.Verb, o.Method, o.URI, o.UserAgent, time.Since(o.Since).Round(time.Millisecond))
}

var errNoServer = errors.New("the host answered without a server")
