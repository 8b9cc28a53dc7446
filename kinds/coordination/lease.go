package coordination

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func leases() *registry.Resource {
	return kind.Definition{
		GroupVersion: coordinationv1.SchemeGroupVersion,
		Object:       &coordinationv1.Lease{},
		List:         &coordinationv1.LeaseList{},
		Resource:     "leases",
		Namespaced:   true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Prepare: kind.OnCreate(dropStrategy), Validate: kind.CheckCreate(validateLease)},
			Update: registry.UpdateStrategy{AllowCreate: true, Prepare: kind.OnUpdate(dropNewStrategy), Validate: kind.CheckAgain(validateLease)},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Holder", "string", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(leaseRow),
		},
	}.Build()
}

func leaseRow(lease *coordinationv1.Lease) []any {
	return []any{lease.Name, ptr.Deref(lease.Spec.HolderIdentity, ""), kind.Age(lease.CreationTimestamp)}
}
