package coordination

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestLeases(t *testing.T) {
	type lease = coordinationv1.Lease
	check := registrytest.Rules(t, func() *lease { return &lease{} }, validateLease)
	check("the duration is positive", func(l *lease) { l.Spec.LeaseDurationSeconds = new(int32(0)) },
		"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0")
	check("the number of transitions is not negative", func(l *lease) { l.Spec.LeaseTransitions = new(int32(-1)) },
		"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0")
}

func TestDisabledLeaseFieldsAreDropped(t *testing.T) {
	with := func() *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{Strategy: new(coordinationv1.OldestEmulationVersion), PreferredHolder: new("a")}}
	}
	strategy := leases(feature.Default()).Strategy
	created, kept := with(), with()
	strategy.Create.Prepare(t.Context(), created)
	strategy.Update.Prepare(t.Context(), kept, with())
	if created.Spec.Strategy != nil || created.Spec.PreferredHolder != nil {
		t.Errorf("a create stored %+v", created.Spec)
	}
	if kept.Spec.Strategy == nil || kept.Spec.PreferredHolder == nil {
		t.Errorf("what is stored was dropped: %+v", kept.Spec)
	}
}
