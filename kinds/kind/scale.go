package kind

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/registry"
)

// Scaling holds the parts of an object that its scale shows.
type Scaling struct {
	// Replicas points into the object.
	Replicas **int32
	// Current is the current number of replicas.
	Current  int32
	Selector string
}

// ScaleSubresource returns the subresource scale of a kind. parts returns the parts of an object.
func ScaleSubresource[T Object](parts func(obj T) (Scaling, error)) registry.Subresource {
	return registry.Subresource{
		Name:  "scale",
		Verbs: []string{"get", "patch", "update"},
		Kind:  autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
		New:   func() runtime.Object { return &autoscalingv1.Scale{} },
		View: &registry.View{
			FromObject: func(obj runtime.Object) (runtime.Object, error) {
				s, err := parts(obj.(T))
				if err != nil {
					return nil, err
				}
				return scaleOf(obj.(T), s), nil
			},
			ToObject: func(view, obj runtime.Object) error {
				s, err := parts(obj.(T))
				if err != nil {
					return err
				}
				*s.Replicas = new(view.(*autoscalingv1.Scale).Spec.Replicas)
				return nil
			},
			Validate: ValidateScale,
			Replicas: func(string) fieldpath.Path { return fieldpath.MakePathOrDie("spec", "replicas") },
			Columns:  ScaleColumns(),
		},
	}
}

// ScaleColumns returns the columns of a Scale.
func ScaleColumns() registry.Columns {
	spec, status := autoscalingv1.ScaleSpec{}.SwaggerDoc(), autoscalingv1.ScaleStatus{}.SwaggerDoc()
	columns := StandardColumns(
		IntegerColumn("Desired", spec["replicas"], func(s *autoscalingv1.Scale) any { return int64(s.Spec.Replicas) }),
		IntegerColumn("Available", status["replicas"], func(s *autoscalingv1.Scale) any { return int64(s.Status.Replicas) }),
	)
	columns[0].Format = ""
	return tableColumns(columns)
}

func scaleOf(m metav1.Object, s Scaling) *autoscalingv1.Scale {
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name:              m.GetName(),
			Namespace:         m.GetNamespace(),
			UID:               m.GetUID(),
			ResourceVersion:   m.GetResourceVersion(),
			CreationTimestamp: m.GetCreationTimestamp(),
		},
		Status: autoscalingv1.ScaleStatus{Replicas: s.Current, Selector: s.Selector},
	}
	if *s.Replicas != nil {
		scale.Spec.Replicas = **s.Replicas
	}
	return scale
}

// ValidateScale validates a scale that a client sends. Its metadata is not stored.
func ValidateScale(view runtime.Object) error {
	scale, ok := view.(*autoscalingv1.Scale)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("wrong object passed to Scale update: %v", view))
	}
	errs := validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: "Scale"}, scale.Name, errs)
}
