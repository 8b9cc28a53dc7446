package miniapitest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"testing"
)

// Template is a server that is prepared once per process, and forked for each test. It suits tests
// that need many CustomResourceDefinitions or objects: a fork takes less time than their
// installation.
//
//	var template = miniapitest.NewTemplate(
//		miniapitest.Options{CRDs: []string{"../config/crd/bases"}},
//		func(ctx context.Context, server *miniapitest.Server) error {
//			return createFixtures(ctx, server.RESTConfig())
//		},
//	)
//
//	func TestController(t *testing.T) {
//		server := template.Start(t)
//
// The methods of a Template are safe for concurrent use.
type Template struct {
	options Options
	prepare func(ctx context.Context, server *Server) error

	once   sync.Once
	origin *Server
	err    error
}

// NewTemplate returns a template. It starts nothing: the first call of Start starts the server with
// the options and calls prepare, unless that is nil.
func NewTemplate(options Options, prepare func(ctx context.Context, server *Server) error) *Template {
	return &Template{options: options, prepare: prepare}
}

// Start returns a fork of the prepared server, see Server.Fork. The prepared server ends with the
// process. If the preparation fails, each test that calls Start fails with its error.
func (p *Template) Start(t testing.TB) *Server {
	t.Helper()
	p.once.Do(func() { p.origin, p.err = p.make(t) })
	if p.err != nil {
		t.Fatalf("miniapitest: the template of %s was not prepared: %v", t.Name(), p.err)
	}
	return startFor(t, p.options, p.options.fork(p.origin), nil)
}

// make returns the prepared server.
func (p *Template) make(t testing.TB) (*Server, error) {
	request, err := p.options.request()
	if err != nil {
		return nil, err
	}
	request.Name, request.Lease, request.PID = "template of "+t.Name(), "pid", os.Getpid()
	origin := &Server{options: p.options}
	origin.host, err = inHost(logTo(t), func(host *host) error {
		return host.call(context.Background(), http.MethodPost, "/v1/servers", request, &origin.description)
	})
	if err != nil {
		return nil, err
	}
	if p.prepare == nil {
		return origin, nil
	}
	if err := p.prepare(context.Background(), origin); err != nil {
		return nil, errors.Join(err, origin.Stop(context.Background()))
	}
	return origin, nil
}
