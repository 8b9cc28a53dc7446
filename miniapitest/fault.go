package miniapitest

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// Fault injects a failure into the requests that it selects. It has the fields of the type Fault of
// github.com/miniapi/miniapi/testapi/faults, whose documentation applies.
type Fault struct {
	Name   string      `json:"name,omitempty"`
	Match  FaultMatch  `json:"match"`
	Effect FaultEffect `json:"effect"`
}

// FaultMatch selects requests. An empty list selects all values.
type FaultMatch struct {
	Verbs         []string `json:"verbs,omitempty"`
	Groups        []string `json:"groups,omitempty"`
	Resources     []string `json:"resources,omitempty"`
	Namespaces    []string `json:"namespaces,omitempty"`
	Names         []string `json:"names,omitempty"`
	LabelSelector string   `json:"labelSelector,omitempty"`
	Users         []string `json:"users,omitempty"`
	UserAgents    []string `json:"userAgents,omitempty"`
	FieldManagers []string `json:"fieldManagers,omitempty"`
	PerObject     bool     `json:"perObject,omitempty"`
	Nth           int64    `json:"nth,omitempty"`
	Every         int64    `json:"every,omitempty"`
	Probability   float64  `json:"probability,omitempty"`
	Seed          uint64   `json:"seed,omitempty"`
	Count         int64    `json:"count,omitempty"`
	// Duration is a duration such as 5s.
	Duration string `json:"duration,omitempty"`
}

// FaultEffect is a failure. Exactly one field is set.
type FaultEffect struct {
	Status   *FaultStatus   `json:"status,omitempty"`
	Conflict *FaultConflict `json:"conflict,omitempty"`
	Latency  *FaultLatency  `json:"latency,omitempty"`
	Reset    *FaultReset    `json:"reset,omitempty"`
	Watch    *FaultWatch    `json:"watch,omitempty"`
	Stale    *FaultStale    `json:"stale,omitempty"`
	Etcd     *FaultEtcd     `json:"etcd,omitempty"`
	Compact  *FaultCompact  `json:"compact,omitempty"`
}

// FaultStatus is an error response.
type FaultStatus struct {
	Code              int    `json:"code"`
	Reason            string `json:"reason,omitempty"`
	Message           string `json:"message,omitempty"`
	RetryAfterSeconds int    `json:"retryAfterSeconds,omitempty"`
	AfterWrite        bool   `json:"afterWrite,omitempty"`
}

// FaultConflict is the response to a write from a stale copy.
type FaultConflict struct {
	InterveningWrite bool `json:"interveningWrite,omitempty"`
}

// FaultLatency is a delay. Both fields are durations such as 100ms.
type FaultLatency struct {
	Duration string `json:"duration"`
	UpTo     string `json:"upTo,omitempty"`
}

// FaultReset closes the connection.
type FaultReset struct {
	AfterWrite bool  `json:"afterWrite,omitempty"`
	AfterBytes int64 `json:"afterBytes,omitempty"`
}

// FaultWatch disturbs a watch. Delay is a duration such as 100ms.
type FaultWatch struct {
	EndAfter    *int   `json:"endAfter,omitempty"`
	DropAfter   *int   `json:"dropAfter,omitempty"`
	ExpireAfter *int   `json:"expireAfter,omitempty"`
	Delay       string `json:"delay,omitempty"`
	Hold        bool   `json:"hold,omitempty"`
	NoBookmarks bool   `json:"noBookmarks,omitempty"`
}

// FaultStale answers reads of the watch cache with a past state. Lag is a duration such as 2s.
type FaultStale struct {
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Lag             string `json:"lag,omitempty"`
}

// FaultEtcd fails the requests to etcd.
type FaultEtcd struct {
	Unavailable bool          `json:"unavailable,omitempty"`
	NoSpace     bool          `json:"noSpace,omitempty"`
	Latency     *FaultLatency `json:"latency,omitempty"`
}

// FaultCompact removes the history of etcd before the request is handled.
type FaultCompact struct{}

// FaultCounts counts the requests of a fault.
type FaultCounts struct {
	// Matched counts the requests that Match selects, apart from Nth and the later fields.
	Matched int64 `json:"matched"`
	// Injected counts the requests into which the failure was injected.
	Injected int64 `json:"injected"`
	// LastRequest is the method and the URI of the last of them, and LastTime its time.
	LastRequest string    `json:"lastRequest"`
	LastTime    time.Time `json:"lastTime"`
}

type activeFault struct {
	ID     string      `json:"id"`
	Status FaultCounts `json:"status"`
}

// ActiveFault is a fault of a server.
type ActiveFault struct {
	server *Server
	id     string
}

// Inject adds a fault, and removes it at the end of the test. If the fault is invalid, it calls
// t.Fatal, so it must be called on the goroutine of the test.
func (s *Server) Inject(t testing.TB, fault Fault) *ActiveFault {
	t.Helper()
	var added activeFault
	if err := s.call(context.Background(), http.MethodPost, "/faults", fault, &added); err != nil {
		t.Fatalf("miniapitest: a fault was not added: %v", err)
	}
	active := &ActiveFault{server: s, id: added.ID}
	t.Cleanup(func() { _ = active.Remove(context.Background()) }) // the server may have ended
	return active
}

// Counts returns the present counts.
func (f *ActiveFault) Counts(ctx context.Context) (FaultCounts, error) {
	var described activeFault
	err := f.server.call(ctx, http.MethodGet, "/faults/"+f.id, nil, &described)
	return described.Status, err
}

// Remove removes the fault before the end of the test.
func (f *ActiveFault) Remove(ctx context.Context) error {
	return f.server.call(ctx, http.MethodDelete, "/faults/"+f.id, nil, nil)
}
