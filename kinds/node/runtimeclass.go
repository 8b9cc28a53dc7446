package node

import (
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func runtimeClasses() *registry.Resource {
	return kind.Definition{
		GroupVersion: nodev1.SchemeGroupVersion,
		Object:       &nodev1.RuntimeClass{},
		List:         &nodev1.RuntimeClassList{},
		Resource:     "runtimeclasses",
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateRuntimeClass), Warnings: kind.WarnCreate(warnOfSelector)},
			Update: registry.UpdateStrategy{
				AllowCreate: true,
				Validate:    kind.CheckUpdate(validateRuntimeClassUpdate),
				Warnings:    kind.WarnAgain(warnOfSelector),
			},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Handler", "string", ""),
				kind.AgeColumn(),
			},
			Row: kind.Row(runtimeClassRow),
		},
	}.Build()
}

func runtimeClassRow(class *nodev1.RuntimeClass) []any {
	return []any{class.Name, class.Handler, kind.Age(class.CreationTimestamp)}
}
