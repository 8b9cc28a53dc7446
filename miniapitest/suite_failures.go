package miniapitest

import "context"

// failure is a failure of the suite.
type failure struct {
	name     string
	scenario scenario
}

// scenario runs the controller of an attempt through a failure. An error is a problem of the
// controller.
type scenario func(ctx context.Context, a *attempt) error

// Failures with rules of their own.
const (
	staleCache = "stale-cache"
	restart    = "restart"
)

// Verbs of the writes to an object that exists, and of all requests but watches.
var (
	updateVerbs  = []string{"update", "patch"}
	requestVerbs = []string{"get", "list", "create", "update", "patch", "delete"}
)

// failures returns all failures. It is called after the baseline, which has the watches of the
// controller.
func (p *suiteRun) failures() []failure {
	list := append([]failure{}, generalFailures...)
	for _, watched := range p.normal.watches() {
		list = append(list, failure{staleCache + "/" + watched.groupResource(), staleWatch(watched)})
	}
	return list
}

// generalFailures are the failures of every controller.
var generalFailures = []failure{
	{"conflict", withFaults(onEach(2, updateVerbs, FaultEffect{Conflict: &FaultConflict{}}))},
	{"conflict-after-read", withFaults(onEach(2, updateVerbs, FaultEffect{Conflict: &FaultConflict{InterveningWrite: true}}))},
	{"timeout-create", withFaults(onEach(1, []string{"create"}, FaultEffect{Status: &FaultStatus{Code: 504, AfterWrite: true}}))},
	{"timeout-update", withFaults(onEach(1, updateVerbs, FaultEffect{Status: &FaultStatus{Code: 504, AfterWrite: true}}))},
	{"too-many-requests", withFaults(Fault{
		Match:  FaultMatch{Verbs: requestVerbs, Every: 2, Count: 2},
		Effect: FaultEffect{Status: &FaultStatus{Code: 429, RetryAfterSeconds: 1}},
	})},
	{"server-errors", withFaults(
		onEach(1, requestVerbs, FaultEffect{Status: &FaultStatus{Code: 500}}),
		onEach(1, requestVerbs, FaultEffect{Status: &FaultStatus{Code: 503}}),
	)},
	{"watch-closed", withFaults(
		onEach(1, []string{"watch"}, FaultEffect{Watch: &FaultWatch{EndAfter: number(1)}}),
		onEach(1, []string{"watch"}, FaultEffect{Watch: &FaultWatch{DropAfter: number(0)}}),
	)},
	{"watch-expired", withFaults(
		onEach(1, []string{"watch"}, FaultEffect{Watch: &FaultWatch{ExpireAfter: number(1)}}),
		onEach(1, []string{"watch"}, FaultEffect{Status: &FaultStatus{Code: 410}}),
	)},
	{"event-storm", storm},
	{restart, restartServer},
	{"leader-lost", loseLeadership},
}

// failureNames has the names of generalFailures.
var failureNames = func() map[string]bool {
	known := map[string]bool{}
	for _, f := range generalFailures {
		known[f.name] = true
	}
	return known
}()

func number(n int) *int { return &n }

// onEach returns the fault for the first requests of the controller with each of the verbs for each
// object. If several of these faults match, the later ones count from the first request that the
// earlier ones do not select.
func onEach(count int64, verbs []string, effect FaultEffect) Fault {
	return Fault{
		Match:  FaultMatch{Verbs: verbs, PerObject: true, Count: count},
		Effect: effect,
	}
}

// withFaults returns the scenario of faults from the start of the controller on.
func withFaults(faults ...Fault) scenario {
	return func(ctx context.Context, a *attempt) error {
		a.inject(faults...)
		a.start()
		if err := a.converge(ctx); err != nil {
			return err
		}
		a.injectWrites(faults...)
		if err := a.change(ctx); err != nil {
			return err
		}
		if err := a.converge(ctx); err != nil {
			return err
		}
		return a.requireInjected(ctx)
	}
}
