package node

import (
	"context"

	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func runtimeClasses() *registry.Resource {
	return kind.Definition{
		GroupVersion: nodev1.SchemeGroupVersion,
		Object:       &nodev1.RuntimeClass{},
		List:         &nodev1.RuntimeClassList{},
		Resource:     "runtimeclasses",
		Default:      kind.Defaults(defaultRuntimeClass),
		Strategy: registry.Strategy{
			Update: registry.UpdateStrategy{AllowCreate: true, Validate: validateRuntimeClassUpdate},
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

func defaultRuntimeClass(class *nodev1.RuntimeClass) {
	if class.Overhead != nil {
		podspec.RoundUp(class.Overhead.PodFixed)
	}
}

func validateRuntimeClassUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateImmutableField(
		obj.(*nodev1.RuntimeClass).Handler, old.(*nodev1.RuntimeClass).Handler, field.NewPath("handler"))
}

func runtimeClassRow(class *nodev1.RuntimeClass) []any {
	return []any{class.Name, class.Handler, kind.Age(class.CreationTimestamp)}
}
