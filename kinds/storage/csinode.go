package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func csiNodes() *registry.Resource {
	return kind.Definition{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.CSINode{},
		List:         &storagev1.CSINodeList{},
		Resource:     "csinodes",
		Finalizers:   kind.Finalizers,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateNode)},
			Update: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateNodeUpdate)},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Drivers", "integer", "Drivers indicates the number of CSI drivers registered on the node"),
				kind.AgeColumn(),
			},
			Row: kind.Row(csiNodeRow),
		},
	}.Build()
}

func csiNodeRow(node *storagev1.CSINode) []any {
	return []any{node.Name, int64(len(node.Spec.Drivers)), kind.Age(node.CreationTimestamp)}
}
