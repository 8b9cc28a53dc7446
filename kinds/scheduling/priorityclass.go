package scheduling

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func priorityClasses() *registry.Resource {
	doc := schedulingv1.PriorityClass{}.SwaggerDoc()
	return kind.Definition{
		GroupVersion: schedulingv1.SchemeGroupVersion,
		Object:       &schedulingv1.PriorityClass{},
		List:         &schedulingv1.PriorityClassList{},
		Resource:     "priorityclasses",
		Default:      kind.Defaults(defaultPriorityClass),
		ShortNames:   []string{"pc"},
		Generation:   true,
		Changed:      func(_, _ runtime.Object) bool { return false },
		Strategy: registry.Strategy{
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: validatePriorityClassUpdate},
			Delete: registry.DeleteStrategy{Forbidden: forbidSystemClass},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Value", "integer", doc["value"]),
				kind.Column("Global-Default", "boolean", doc["globalDefault"]),
				kind.AgeColumn(),
				kind.Column("PreemptionPolicy", "string", doc["preemptionPolicy"]),
			},
			Row: kind.Row(priorityClassRow),
		},
	}.Build()
}

// validatePriorityClassUpdate keeps what pods have taken over already.
func defaultPriorityClass(class *schedulingv1.PriorityClass) {
	kind.FillNil(&class.PreemptionPolicy, corev1.PreemptLowerPriority)
}

func validatePriorityClassUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	class, oldClass := obj.(*schedulingv1.PriorityClass), old.(*schedulingv1.PriorityClass)
	var faults field.ErrorList
	if class.Value != oldClass.Value {
		faults = append(faults, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(faults, validation.ValidateImmutableField(
		class.PreemptionPolicy, oldClass.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}

// forbidSystemClass keeps the classes which kube-apiserver makes itself.
func forbidSystemClass(obj runtime.Object) error {
	name := obj.(*schedulingv1.PriorityClass).Name
	if name != "system-cluster-critical" && name != "system-node-critical" {
		return nil
	}
	return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), name,
		errors.New("this is a system priority class and cannot be deleted"))
}

func priorityClassRow(class *schedulingv1.PriorityClass) []any {
	policy := ""
	if class.PreemptionPolicy != nil {
		policy = string(*class.PreemptionPolicy)
	}
	return []any{class.Name, int64(class.Value), class.GlobalDefault, kind.Age(class.CreationTimestamp), policy}
}
