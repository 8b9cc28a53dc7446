package coordination

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func leases() *registry.Resource {
	return kind.Definition[*coordinationv1.Lease]{
		GroupVersion:          coordinationv1.SchemeGroupVersion,
		Object:                &coordinationv1.Lease{},
		List:                  &coordinationv1.LeaseList{},
		Resource:              "leases",
		UnqualifiedFinalizers: true,
		Namespaced:            true,
		Validate:              validateLease,
		PrepareForCreate:      dropStrategy,
		AllowCreateOnUpdate:   true,
		PrepareForUpdate:      dropNewStrategy,
		Columns: kind.StandardColumns(
			kind.TextColumn("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"],
				func(lease *coordinationv1.Lease) any { return ptr.Deref(lease.Spec.HolderIdentity, "") }),
		),
	}.Build()
}

// dropStrategy drops a field whose feature gate is disabled by default.
func dropStrategy(l *coordinationv1.Lease) {
	l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil
}

func dropNewStrategy(l, old *coordinationv1.Lease) {
	if old.Spec.Strategy == nil {
		l.Spec.Strategy = nil
	}
	if old.Spec.PreferredHolder == nil {
		l.Spec.PreferredHolder = nil
	}
}
