package heartbeat

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds/coordination"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// A running server renews its lease again and again.
func TestRunRenews(t *testing.T) {
	env := registrytest.New(t, nil, coordination.Resources(feature.Default())...)
	clock := apitime.New(nil)
	lease, err := New(Config{Catalog: env.Catalog, Port: 6443, Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := lease.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	seen := map[time.Time]bool{}
	for len(seen) < 3 {
		if err := clock.Advance(renewInterval); err != nil {
			t.Fatal(err)
		}
		stored, err := registry.Read[*coordinationv1.Lease](t.Context(), env.Store("leases.coordination.k8s.io"), "kube-system", lease.name, "")
		if err == nil {
			seen[stored.Spec.RenewTime.Time] = true
		}
	}
	cancel()
	running.Wait()
}
