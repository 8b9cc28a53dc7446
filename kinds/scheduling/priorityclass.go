package scheduling

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultPriorityClass),
		ShortNames:   []string{"pc"},
		Generation:   true,
		Changed:      func(_, _ runtime.Object) bool { return false },
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validatePriorityClass)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validatePriorityClassUpdate)},
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

func defaultPriorityClass(class *schedulingv1.PriorityClass) {
	kind.FillNil(&class.PreemptionPolicy, corev1.PreemptLowerPriority)
}

// forbidSystemClass keeps the classes which kube-apiserver makes itself.
func forbidSystemClass(obj runtime.Object) error {
	name := obj.(*schedulingv1.PriorityClass).Name
	if _, ok := systemClasses[name]; !ok {
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
