package scheduling

import (
	"errors"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func priorityClasses(features *feature.Set) *registry.Resource {
	doc := schedulingv1.PriorityClass{}.SwaggerDoc()
	return kind.Definition[*schedulingv1.PriorityClass]{
		GroupVersion:             schedulingv1.SchemeGroupVersion,
		Object:                   &schedulingv1.PriorityClass{},
		List:                     &schedulingv1.PriorityClassList{},
		Resource:                 "priorityclasses",
		Default:                  defaultPriorityClass,
		ShortNames:               []string{"pc"},
		Generation:               true,
		Changed:                  func(_, _ *schedulingv1.PriorityClass) bool { return false },
		ValidateCreate:           validatePriorityClass,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validatePriorityClassUpdate,
		ForbidDelete:             forbidSystemClass,
		Columns: []kind.Column[*schedulingv1.PriorityClass]{
			kind.NameColumn[*schedulingv1.PriorityClass](),
			kind.IntegerColumn("Value", doc["value"],
				func(class *schedulingv1.PriorityClass) any { return int64(class.Value) }),
			kind.BooleanColumn("Global-Default", doc["globalDefault"],
				func(class *schedulingv1.PriorityClass) any { return class.GlobalDefault }),
			kind.AgeColumn[*schedulingv1.PriorityClass](),
			kind.TextColumn("PreemptionPolicy", doc["preemptionPolicy"],
				func(class *schedulingv1.PriorityClass) any { return string(ptr.Deref(class.PreemptionPolicy, "")) }),
		},
	}.Build(features)
}

// forbidSystemClass rejects the deletion of the classes that kube-apiserver creates.
func forbidSystemClass(class *schedulingv1.PriorityClass) error {
	name := class.Name
	if _, ok := systemClasses[name]; !ok {
		return nil
	}
	return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), name,
		errors.New("this is a system priority class and cannot be deleted"))
}
