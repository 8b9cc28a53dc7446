package robustness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/miniapi/miniapi/test/robustness/cluster"
	"github.com/miniapi/miniapi/test/robustness/fault"
	"github.com/miniapi/miniapi/test/robustness/traffic"
	"github.com/miniapi/miniapi/test/robustness/verify"
)

const (
	// faultTimeout is the time within which a fault must end and all servers must recover, also on
	// a busy machine.
	faultTimeout = 5 * time.Minute
	// convergeTimeout is the time within which watches and informers must receive all events.
	// Informers have less, without the time in which they wait.
	convergeTimeout = 10 * time.Minute
	// betweenFaults is the maximum time between two faults.
	betweenFaults = 300 * time.Millisecond
)

// scenario is a cluster with the faults that it has to survive.
type scenario struct {
	name    string
	cluster cluster.Config
	faults  []fault.Fault
	// share is the share of the time of all scenarios.
	share float64
	// disk is the size of the disk with the data, 0 for the disk of the machine.
	disk int64
	// slowDisk is set if the disk can be slow.
	slowDisk bool
	// shiftedClocks is set if the clocks of all processes can be shifted.
	shiftedClocks bool
}

// run is one run of a scenario.
type run struct {
	scenario
	site   *fault.Site
	report *report
}

// execute runs a scenario for a time and returns its report. An error means that the cluster did
// not recover or that the run could not be checked.
func execute(ctx context.Context, s scenario, seed uint64, d time.Duration) (*report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	topology, err := cluster.Start(ctx, s.cluster)
	if err != nil {
		return nil, err
	}
	defer topology.Close()
	client, err := topology.Client()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	observer, err := verify.NewObserver(ctx, client)
	if err != nil {
		return nil, err
	}
	r := &run{scenario: s, report: newReport(s.name), site: &fault.Site{
		Topology: topology, Etcd: client, Observer: observer, Random: rand.New(rand.NewPCG(seed, 0)),
	}}
	var observing sync.WaitGroup
	defer observing.Wait()
	defer cancel()
	var observed error
	observing.Go(func() { observed = observer.Run(ctx) }) // ends with ctx
	err = r.run(ctx, seed, d)
	cancel()
	observing.Wait()
	return r.report, errors.Join(err, observed)
}

func (r *run) run(ctx context.Context, seed uint64, d time.Duration) error {
	config := traffic.Config{Seed: seed}
	for _, s := range r.site.Servers {
		config.URLs = append(config.URLs, s.URL)
	}
	var err error
	if r.site.Traffic, err = traffic.Start(ctx, config); err != nil {
		return fmt.Errorf("start the traffic: %w", err)
	}
	defer r.site.Traffic.Close()
	if err := r.disturb(ctx, time.Now().Add(d)); err != nil {
		return err
	}
	return r.verify(ctx)
}

// disturb injects one fault after the other, each kind equally often.
func (r *run) disturb(ctx context.Context, until time.Time) error {
	for {
		for _, n := range r.site.Random.Perm(len(r.faults)) {
			f := r.faults[n]
			pause := time.Duration(r.site.Random.Int64N(int64(betweenFaults)))
			if time.Now().Add(pause).After(until) {
				return nil
			}
			time.Sleep(pause)
			if err := r.inject(ctx, f); err != nil {
				return fmt.Errorf("fault %s: %w\n%s", fault.Name(f), err, r.outputs())
			}
		}
	}
}

// inject injects a fault and waits until all servers have recovered.
func (r *run) inject(ctx context.Context, f fault.Fault) error {
	ctx, cancel := context.WithTimeout(ctx, faultTimeout)
	defer cancel()
	start := time.Now()
	end, err := f.Inject(ctx, r.site)
	if err != nil {
		return err
	}
	if f.Tolerated() {
		if err := r.probe(ctx); err != nil {
			return err
		}
		r.report.recovered(f, time.Since(start))
	}
	start = time.Now()
	if err := end(ctx); err != nil {
		return err
	}
	if err := r.probe(ctx); err != nil {
		return err
	}
	if !f.Tolerated() {
		r.report.recovered(f, time.Since(start))
	}
	return nil
}

// probe waits until each server acknowledges a write and answers a read.
func (r *run) probe(ctx context.Context) error {
	errs := make([]error, len(r.site.Servers))
	var probes sync.WaitGroup
	for n := range r.site.Servers {
		probes.Go(func() { errs[n] = r.site.Traffic.Probe(ctx, n) })
	}
	probes.Wait()
	return errors.Join(errs...)
}

// verify ends the traffic and checks its record.
func (r *run) verify(ctx context.Context) error {
	t := r.site.Traffic
	t.StopWriting()
	stopped := time.Now()
	complete, cancel := context.WithTimeout(ctx, convergeTimeout)
	defer cancel()
	changes, err := r.site.Observer.Complete(complete)
	if err != nil {
		return err
	}
	until := r.site.Observer.Observed()
	for _, w := range t.Watchers {
		for last := verify.LastSelected(changes, w.Selection()); w.Position() < last && complete.Err() == nil; {
			time.Sleep(10 * time.Millisecond)
		}
	}
	r.report.watchesComplete = time.Since(stopped)
	record := verify.Record{Removals: r.site.Removals}
	for _, i := range t.Informers {
		if err := i.CheckCache(complete); err != nil {
			record.Faults = append(record.Faults, fmt.Errorf("%w: %w", verify.ErrCaches, err))
			for _, s := range r.site.Servers {
				r.report.watches += fmt.Sprintf("open watches of %s: %s\n", s.Name, s.OpenWatches(ctx))
			}
		}
	}
	r.report.informersComplete = time.Since(stopped)
	t.Close()
	// A write with an unknown outcome may have happened since then.
	final, cancel := context.WithTimeout(ctx, convergeTimeout)
	defer cancel()
	if changes, err = r.site.Observer.Complete(final); err != nil {
		return err
	}
	for _, w := range t.Watchers {
		record.Watches = append(record.Watches, w.Recorded(until))
	}
	record.Operations, record.Lists = t.Operations(), t.Lists()
	record.Faults = append(record.Faults, t.Faults()...)
	r.report.count(record)
	r.report.violations = verify.Check(changes, record)
	return nil
}

// outputs returns the end of the output of all processes.
func (r *run) outputs() (all string) {
	for _, s := range r.site.Servers {
		all += s.Name + ":\n" + s.Output()
	}
	for _, m := range r.site.Members {
		all += m.Name + ":\n" + m.Output()
	}
	return all
}
