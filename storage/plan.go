package storage

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/versioner"
)

// Freshness is how recent the state that answers a read must be. The zero value accepts any state.
type Freshness struct {
	// Latest requires a state with every write that was acknowledged before the read.
	Latest bool
	// Minimum is the oldest revision allowed. A revision ahead of the store is an
	// ErrFutureRevision.
	Minimum int64
}

// freshness returns the meaning of a resourceVersion: "" is the latest state, "0" any state, N any
// state not older than N.
func freshness(v versioner.Versioner, resourceVersion string) (Freshness, error) {
	minimum, err := v.ParseResourceVersion(resourceVersion)
	return Freshness{Latest: resourceVersion == "", Minimum: minimum}, err
}

// Freshness returns how recent the answer must be. Errors wrap versioner.ErrInvalidVersion.
func (o GetOptions) Freshness(v versioner.Versioner) (Freshness, error) {
	return freshness(v, o.ResourceVersion)
}

// ReadPlan is the meaning of ListOptions.
type ReadPlan struct {
	Freshness
	// Exact requires the state at revision Minimum itself.
	Exact bool
	// From is the first key to read. It is the key of the list, or a key below it if the list
	// continues an earlier page.
	From string
}

// Plan returns what a list of key has to read, by the table at
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions. The key of a
// recursive list ends in a slash. Errors wrap versioner.ErrInvalidVersion, ErrInvalidContinue or
// ErrContinueWithVersion, except that an unknown ResourceVersionMatch has an error of its own.
func (o ListOptions) Plan(v versioner.Versioner, key string) (ReadPlan, error) {
	if o.Recursive && o.Continue != "" {
		return o.resume(key)
	}
	fresh, err := freshness(v, o.ResourceVersion)
	if err != nil {
		return ReadPlan{}, err
	}
	exact := false
	switch o.ResourceVersionMatch {
	case metav1.ResourceVersionMatchExact:
		exact = true
	case metav1.ResourceVersionMatchNotOlderThan:
	case "": // the legacy form: a limit makes the revision exact
		exact = o.Recursive && o.Limit > 0
	default:
		return ReadPlan{}, fmt.Errorf("unknown ResourceVersionMatch value: %v", o.ResourceVersionMatch)
	}
	return ReadPlan{Freshness: fresh, Exact: exact && fresh.Minimum > 0, From: key}, nil
}

// resume returns the plan of the page after Continue.
func (o ListOptions) resume(key string) (ReadPlan, error) {
	from, revision, err := DecodeContinue(o.Continue, key)
	if err != nil {
		return ReadPlan{}, err
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return ReadPlan{}, ErrContinueWithVersion
	}
	if revision < 0 { // the list continues with the latest state
		return ReadPlan{Freshness: Freshness{Latest: true}, From: from}, nil
	}
	return ReadPlan{Freshness: Freshness{Minimum: revision}, Exact: true, From: from}, nil
}

// WatchPlan is the meaning of WatchOptions.
type WatchPlan struct {
	// Initial reports whether the watch begins with the current state as Added events. That
	// state must be as recent as Freshness.
	Initial bool
	Freshness
	// After is the revision after which events are reported. It is 0 with Initial, and where the
	// watch begins at the latest revision.
	After int64
}

// Plan returns where a watch begins. Errors wrap versioner.ErrInvalidVersion.
func (o WatchOptions) Plan(v versioner.Versioner) (WatchPlan, error) {
	fresh, err := freshness(v, o.ResourceVersion)
	if err != nil {
		return WatchPlan{}, err
	}
	initial := fresh.Minimum == 0
	if o.SendInitialEvents != nil {
		initial = *o.SendInitialEvents
	}
	switch {
	case initial:
		return WatchPlan{Initial: true, Freshness: fresh}, nil
	case fresh.Minimum == 0:
		return WatchPlan{Freshness: Freshness{Latest: true}}, nil
	default: // the revision may be ahead of the store
		return WatchPlan{After: fresh.Minimum}, nil
	}
}
