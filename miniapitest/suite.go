package miniapitest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// ControllerFunc builds a controller for a server. It returns the function that runs the controller
// until its context ends, and the function that returns nil if the state of the server is the one
// that the controller has to bring about, and otherwise an error with the difference. The latter
// passes its context to its requests, so that no fault strikes them and they are not counted.
type ControllerFunc = func(t *testing.T, config *rest.Config) (run, converged func(ctx context.Context) error)

// RunFaultSuite runs the zero FaultSuite.
func RunFaultSuite(t *testing.T, controller ControllerFunc) {
	t.Helper()
	FaultSuite{}.Run(t, controller)
}

// FaultSuite runs a controller once without a failure, the baseline, and then once for each failure
// that every controller must survive. Each run has a server of its own and is a subtest with the
// name of the failure:
//
//   - conflict: the first two writes to each object are answered with a conflict.
//   - conflict-after-read: another client writes the object just before each of these writes.
//   - timeout-create, timeout-update: the first write of each object is committed, and the answer
//     is 504.
//   - too-many-requests: four requests are answered with 429 and Retry-After.
//   - server-errors: the first request of each verb for each object is answered with 500, the
//     second one with 503.
//   - watch-closed: each watch ends, and the next one loses its connection.
//   - watch-expired: each watch ends with 410, and the next one is answered with 410.
//   - stale-cache/RESOURCE: the server's cache of one resource, from which watches and lists with
//     resourceVersion=0 are answered, does not advance while other clients write.
//   - event-storm: other clients write the watched objects 300 times.
//   - restart: the server is stopped and started again with the same data at the same address.
//   - leader-lost: another client takes the Lease of the controller.
//
// A run fails if the controller does not converge, ends early, or loses or doubles a write. A write
// is lost if the controller undoes a change of another client by an update or a patch without a
// resourceVersion: the field has again a value that it had before the change. A write is doubled
// if the controller creates more objects of a resource with the same namespace, owner, and name or
// generateName than in the baseline. Both are measured in the server's journal of writes.
//
// The test logs a table of all runs.
type FaultSuite struct {
	// Options are the options of the servers. DataDir and Address are ignored.
	Options Options
	// Prepare creates the objects that exist before the controller is built, for example
	// CustomResourceDefinitions and namespaces. Nil: none.
	Prepare func(ctx context.Context, server *Server) error
	// Change creates or changes objects as another client, so that the controller has to act while
	// its watches are open. It is called once in each run, after the controller has converged. Then
	// the controller must converge again. Nil: the controller is only observed from its start on.
	Change func(ctx context.Context, config *rest.Config) error
	// Timeout bounds the time until the controller converges, and the time until it has ended after
	// the end of its context. Default: 30s.
	Timeout time.Duration
	// Skip names failures that are not run, for example because they take too long.
	Skip []string
	// KnownFailures names failures that the controller does not survive yet. Such a run does not
	// fail the test, but it must not succeed, so that the list stays correct.
	KnownFailures []string
	// Parallel runs the failures at the same time, which takes a fraction of the time, because the
	// controller mostly waits. The functions of the controller must not share state.
	Parallel bool
}

// Users of the requests of a run.
const (
	controllerUser = "miniapi:fault-suite:controller"
	checkUser      = "miniapi:fault-suite:converged"
)

const (
	defaultSuiteTimeout = 30 * time.Second
	// suiteRequests is the number of requests that the servers of a suite keep.
	suiteRequests = 50_000
)

// Run runs the suite.
func (s FaultSuite) Run(t *testing.T, controller ControllerFunc) {
	t.Helper()
	if s.Timeout <= 0 {
		s.Timeout = defaultSuiteTimeout
	}
	s.Options.DataDir, s.Options.Address = "", ""
	if err := s.validate(); err != nil {
		t.Fatalf("miniapitest: %v", err)
	}
	p := &suiteRun{FaultSuite: s, controller: controller}
	p.origin = p.start(t, s.Options)
	t.Cleanup(func() { p.report(t) })
	p.baseline(t)
	for _, f := range p.failures() {
		if names(s.Skip, f.name) {
			continue
		}
		f, r := f, &result{name: f.name}
		p.results = append(p.results, r)
		t.Run(f.name, func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			p.survive(t, f, r)
		})
	}
}

// validate rejects names of failures that do not exist.
func (s FaultSuite) validate() error {
	for _, name := range append(append([]string{}, s.Skip...), s.KnownFailures...) {
		base, _, _ := strings.Cut(name, "/")
		if base != staleCache && !failureNames[base] {
			return fmt.Errorf("the fault suite has no failure %q", name)
		}
	}
	return nil
}

// names reports whether a list has the name of a failure, or the part of it before the slash.
func names(list []string, name string) bool {
	base, _, _ := strings.Cut(name, "/")
	for _, entry := range list {
		if entry == name || entry == base {
			return true
		}
	}
	return false
}

// suiteRun is a run of a suite.
type suiteRun struct {
	FaultSuite
	controller ControllerFunc
	// origin is the prepared server. Each attempt has a fork of it.
	origin *Server
	// normal is the record of the baseline.
	normal record
	// results are the results in the order of the runs. Each is written by the subtest of its run.
	results []*result
}

// start starts a server and prepares it.
func (p *suiteRun) start(t *testing.T, options Options) *Server {
	t.Helper()
	request, err := options.request()
	request.KeepRequests = suiteRequests
	server := startFor(t, options, request, err)
	if p.Prepare != nil {
		if err := p.Prepare(context.Background(), server); err != nil {
			t.Fatalf("miniapitest: the server was not prepared: %v", err)
		}
	}
	return server
}

// baseline runs the controller without a failure. If it does not converge, the test ends.
func (p *suiteRun) baseline(t *testing.T) {
	t.Helper()
	r := &result{name: "baseline"}
	p.results = append(p.results, r)
	a := p.newAttempt(t, p.origin.Fork(t))
	a.try(withFaults(), r)
	if p.normal = a.record; !r.survived() {
		t.Fatalf("miniapitest: without a failure: %s", strings.Join(r.problems, "\n"))
	}
}

// survive runs the controller with a failure.
func (p *suiteRun) survive(t *testing.T, f failure, r *result) {
	t.Helper()
	var server *Server
	if f.name == restart {
		options := p.Options
		options.DataDir = filepath.Join(t.TempDir(), "data") // the server creates it, for its user only
		server = p.start(t, options)
	} else {
		server = p.origin.Fork(t)
	}
	r.known = names(p.KnownFailures, f.name)
	p.newAttempt(t, server).try(f.scenario, r)
	switch {
	case r.skipped != "":
		t.Skipf("not applicable: %s", r.skipped)
	case r.known && r.survived():
		t.Errorf("miniapitest: the controller survives %s: remove it from KnownFailures", f.name)
	case r.known:
		t.Logf("miniapitest: a known failure: %s", strings.Join(r.problems, "\n"))
	case !r.survived():
		t.Errorf("miniapitest: %s", strings.Join(r.problems, "\n"))
	}
}
