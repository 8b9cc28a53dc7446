package coordination

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func leases(features *feature.Set) *registry.Resource {
	return kind.Definition[*coordinationv1.Lease]{
		GroupVersion:          coordinationv1.SchemeGroupVersion,
		Object:                &coordinationv1.Lease{},
		List:                  &coordinationv1.LeaseList{},
		Resource:              "leases",
		UnqualifiedFinalizers: true,
		Namespaced:            true,
		Validate:              validateLease,
		AllowCreateOnUpdate:   true,
		GatedFields:           kind.Gated(feature.CoordinatedLeaderElection, "spec.strategy|preferredHolder"),
		Columns: kind.StandardColumns(
			kind.TextColumn("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"],
				func(lease *coordinationv1.Lease) any { return ptr.Deref(lease.Spec.HolderIdentity, "") }),
		),
	}.Build(features)
}
