// Package fault disturbs a cluster. Each kind of fault is a type in a file of its own.
package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/test/robustness/cluster"
	"github.com/miniapi/miniapi/test/robustness/traffic"
	"github.com/miniapi/miniapi/test/robustness/verify"
)

// Site is the cluster that faults disturb, with the traffic in it.
type Site struct {
	*cluster.Topology
	Traffic  *traffic.Traffic
	Etcd     *clientv3.Client
	Observer *verify.Observer
	Random   *rand.Rand
	// Removals are recorded by the fault that deletes a definition.
	Removals []verify.Interval
}

// Fault is a kind of fault.
type Fault interface {
	// Inject starts the fault and returns the function that ends it.
	Inject(context.Context, *Site) (end func(context.Context) error, err error)
	// Tolerated reports whether all servers must go on during the fault. Otherwise they must
	// recover after its end.
	Tolerated() bool
}

// Name returns the name of a kind of fault.
func Name(f Fault) string { return reflect.TypeOf(f).Name() }

// server returns a random server.
func (s *Site) server() *cluster.Server { return s.Servers[s.Random.IntN(len(s.Servers))] }

// follower returns a random member that is not the leader.
func (s *Site) follower(ctx context.Context) (*cluster.Member, error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range s.Random.Perm(len(s.Members)) {
		if s.Members[n] != leader {
			return s.Members[n], nil
		}
	}
	return nil, fmt.Errorf("the cluster has no follower")
}

// hold waits for a random time, so that a fault meets requests in different states.
func (s *Site) hold(ctx context.Context, longest time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(s.Random.Int64N(int64(longest)))):
	}
}

// nothing is the end of a fault that ends by itself.
func nothing(context.Context) error { return nil }
