package miniapitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// attempt is a run of the controller on a server of its own.
type attempt struct {
	t         *testing.T
	suite     *suiteRun
	server    *Server
	admin     *admin
	run       func(ctx context.Context) error
	converged func(ctx context.Context) error

	// stop ends the context of the controller. ended is closed when the controller has ended with
	// endErr.
	stop   context.CancelFunc
	ended  chan struct{}
	endErr error

	faults []*ActiveFault
	// took and sent are the time and the number of requests from the start of the controller until
	// it has converged for the last time, 0 if it has not.
	began time.Time
	took  time.Duration
	sent  int
	// record has the requests and writes so far, earlier those to a server that was stopped.
	record, earlier record
}

// Limits of attempts.
const (
	// checkInterval is the time between two calls of converged.
	checkInterval = 20 * time.Millisecond
	// idleTime is the time without a write request after which a controller is idle, maxIdleWait
	// the longest time to wait for it.
	idleTime    = 200 * time.Millisecond
	maxIdleWait = 3 * time.Second
)

// newAttempt builds the controller.
func (p *suiteRun) newAttempt(t *testing.T, server *Server) *attempt {
	t.Helper()
	a := &attempt{t: t, suite: p, server: server}
	config, err := server.AddUser(controllerUser, "system:masters")
	if err == nil {
		a.admin, err = newAdmin(server)
	}
	if err != nil {
		t.Fatalf("miniapitest: %v", err)
	}
	t.Cleanup(a.admin.client.CloseIdleConnections)
	config.Wrap(markChecks)
	a.run, a.converged = p.controller(t, config)
	if a.run == nil || a.converged == nil {
		t.Fatal("miniapitest: the functions of the controller must not be nil")
	}
	return a
}

// try runs a scenario and sets its result.
func (a *attempt) try(play scenario, r *result) {
	ctx := context.Background()
	defer func() { r.done = true }()
	err := a.begin(ctx)
	if err == nil {
		err = play(ctx, a)
	}
	var skipped notApplicable
	switch {
	case errors.As(err, &skipped):
		r.skipped = string(skipped)
	case err != nil:
		r.problems = append(r.problems, err.Error())
	}
	if err := a.idle(ctx); err != nil {
		r.problems = append(r.problems, err.Error())
	}
	if a.record, err = a.present(ctx); err != nil {
		r.problems = append(r.problems, err.Error())
	}
	if err := a.end(); err != nil {
		r.problems = append(r.problems, err.Error())
	}
	r.requests, r.took = a.sent, a.took
	lost, doubled := a.record.lost(), a.record.doubled(a.suite.normal)
	r.lost, r.doubled = len(lost), len(doubled)
	r.problems = append(append(r.problems, lost...), doubled...)
}

// notApplicable is the reason why a failure cannot occur.
type notApplicable string

func (n notApplicable) Error() string { return string(n) }

// begin sets the revision after which the writes of the controller count.
func (a *attempt) begin(ctx context.Context) (err error) {
	a.earlier.revision, err = a.admin.revision(ctx)
	return err
}

// start runs the controller.
func (a *attempt) start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop, a.ended, a.began = cancel, make(chan struct{}), time.Now()
	go func() { // ends in end, or is reported there
		defer close(a.ended)
		a.endErr = a.run(ctx)
	}()
}

// end ends the controller.
func (a *attempt) end() error {
	if a.stop == nil {
		return nil
	}
	a.stop()
	timer := time.NewTimer(a.suite.Timeout)
	defer timer.Stop()
	select {
	case <-a.ended:
		return nil
	case <-timer.C:
		return fmt.Errorf("the controller has not ended %v after the end of its context", a.suite.Timeout)
	}
}

// converge waits until the controller has converged.
func (a *attempt) converge(ctx context.Context) error {
	a.took, a.sent = 0, 0
	ctx, cancel := context.WithTimeout(checkContext(ctx), a.suite.Timeout)
	defer cancel()
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	var difference error
	for {
		err := a.converged(ctx)
		if err == nil {
			a.took = time.Since(a.began)
			a.sent, err = a.count(ctx)
			return err
		}
		if difference == nil || ctx.Err() == nil { // not an error of ctx
			difference = err
		}
		select {
		case <-ticker.C:
		case <-a.ended:
			return fmt.Errorf("the controller ended before it converged: %v", a.endErr)
		case <-ctx.Done():
			return fmt.Errorf("the controller has not converged after %v: %w", a.suite.Timeout, difference)
		}
	}
}

// change calls FaultSuite.Change.
func (a *attempt) change(ctx context.Context) error {
	if a.suite.Change == nil {
		return nil
	}
	if err := a.suite.Change(ctx, a.server.RESTConfig()); err != nil {
		return fmt.Errorf("FaultSuite.Change: %w", err)
	}
	return nil
}

// idle waits until the controller has sent no write request for a time.
func (a *attempt) idle(ctx context.Context) error {
	deadline, since, last := time.Now().Add(maxIdleWait), time.Now(), -1
	ticker := time.NewTicker(idleTime / 8)
	defer ticker.Stop()
	for time.Now().Before(deadline) && time.Since(since) < idleTime {
		requests, err := a.requests(ctx)
		if err != nil {
			return err
		}
		writes := 0
		for _, r := range requests {
			if r.Method != http.MethodGet {
				writes++
			}
		}
		if writes != last {
			since, last = time.Now(), writes
		}
		<-ticker.C
	}
	return nil
}

// inject adds faults of requests for the resources of the baseline. So Leases and Events are not
// affected: the time that an election tolerates is often short in tests.
func (a *attempt) inject(faults ...Fault) {
	a.t.Helper()
	for _, f := range faults {
		f.Match.Users = []string{controllerUser}
		if f.Match.Resources == nil {
			f.Match.Resources = a.suite.normal.resources()
		}
		a.faults = append(a.faults, a.server.Inject(a.t, f))
	}
}

// injectWrites adds the faults of other requests than watches a second time, with new counts.
func (a *attempt) injectWrites(faults ...Fault) {
	a.t.Helper()
	for _, f := range faults {
		if len(f.Match.Verbs) > 0 && f.Match.Verbs[0] != "watch" {
			a.inject(f)
		}
	}
}

// removeFaults removes all faults.
func (a *attempt) removeFaults(ctx context.Context) error {
	for _, f := range a.faults {
		if err := f.Remove(ctx); err != nil {
			return err
		}
	}
	a.faults = nil
	return nil
}

// requireInjected returns notApplicable if the faults have selected no request.
func (a *attempt) requireInjected(ctx context.Context) error {
	for _, f := range a.faults {
		counts, err := f.Counts(ctx)
		if err != nil || counts.Injected > 0 {
			return err
		}
	}
	if len(a.faults) > 0 {
		return notApplicable("the controller sends no such request")
	}
	return nil
}
