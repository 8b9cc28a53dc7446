package miniapitest

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

// staleWatch returns the scenario of a watch cache that does not advance while other clients write.
func staleWatch(watched collection) scenario {
	return func(ctx context.Context, a *attempt) error {
		a.inject(Fault{
			Match:  FaultMatch{Groups: []string{watched.group}, Resources: []string{watched.resource}},
			Effect: FaultEffect{Stale: &FaultStale{}},
		})
		a.start()
		if err := a.idle(ctx); err != nil {
			return err
		}
		for _, other := range a.suite.normal.watches() {
			if err := a.touch(ctx, other, 1); err != nil {
				return err
			}
		}
		if err := a.change(ctx); err != nil {
			return err
		}
		if err := a.idle(ctx); err != nil {
			return err
		}
		if err := a.removeFaults(ctx); err != nil {
			return err
		}
		return a.converge(ctx)
	}
}

// stormEvents is the number of writes of a storm.
const stormEvents = 300

// storm writes the watched objects again and again, and calls Change in between.
func storm(ctx context.Context, a *attempt) error {
	a.start()
	if err := a.converge(ctx); err != nil {
		return err
	}
	watches := a.suite.normal.watches()
	if len(watches) == 0 {
		return notApplicable("the controller has no watch")
	}
	for half := 0; half < 2; half++ {
		for _, watched := range watches {
			if err := a.touch(ctx, watched, stormEvents/2/len(watches)); err != nil {
				return err
			}
		}
		if half == 0 {
			if err := a.change(ctx); err != nil {
				return err
			}
		}
	}
	return a.converge(ctx)
}

// restartServer stops the server and starts it again at the same address. Change is called while
// the server is ending, when all requests of the controller fail.
func restartServer(ctx context.Context, a *attempt) error {
	a.start()
	if err := a.converge(ctx); err != nil {
		return err
	}
	a.inject(Fault{Effect: FaultEffect{Reset: &FaultReset{}}})
	if err := a.change(ctx); err != nil {
		return err
	}
	if err := a.keepRecord(ctx); err != nil {
		return err
	}
	address, err := url.Parse(a.server.URL())
	if err != nil {
		return err
	}
	options := a.server.options
	if err := a.server.Stop(ctx); err != nil {
		return fmt.Errorf("the server did not stop: %w", err)
	}
	options.Address = address.Host
	request, err := options.request()
	request.KeepRequests = suiteRequests
	a.server = startFor(a.t, options, request, err)
	return a.converge(ctx)
}

// loseLeadership takes the Lease of the controller. The controller must end or stop writing within
// the duration of the lease.
func loseLeadership(ctx context.Context, a *attempt) error {
	lease := a.suite.normal.lease()
	if lease == nil {
		return notApplicable("no leader election")
	}
	a.start()
	if err := a.converge(ctx); err != nil {
		return err
	}
	duration, err := a.takeLease(ctx, *lease)
	if err != nil {
		return err
	}
	lost := time.Now().Add(duration)
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-a.ended: // as it should
	case <-timer.C:
	}
	for _, watched := range a.suite.normal.watches() {
		if err := a.touch(ctx, watched, 1); err != nil {
			return err
		}
	}
	if err := a.change(ctx); err != nil {
		return err
	}
	if err := a.idle(ctx); err != nil {
		return err
	}
	present, err := a.present(ctx)
	if err != nil {
		return err
	}
	for _, w := range present.writes {
		if w.Time.After(lost) && !w.incidental() {
			return fmt.Errorf("the controller writes without its Lease: %s of %s", w.Verb, w.object())
		}
	}
	return nil
}
