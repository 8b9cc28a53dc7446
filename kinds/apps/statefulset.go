package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func statefulSets(features *feature.Set) *registry.Resource {
	return kind.Definition[*appsv1.StatefulSet]{
		GroupVersion:             appsv1.SchemeGroupVersion,
		Object:                   &appsv1.StatefulSet{},
		List:                     &appsv1.StatefulSetList{},
		Resource:                 "statefulsets",
		ShortNames:               []string{"sts"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Generation:               true,
		Status:                   true,
		Default:                  func(s *appsv1.StatefulSet) { defaultStatefulSet(s, features) },
		Restore:                  func(s *appsv1.StatefulSet) { defaultStatefulSet(s, features) },
		ValidateName:             validation.NameIsDNSLabel,
		ValidateCreate:           func(s *appsv1.StatefulSet) field.ErrorList { return validateNewStatefulSet(s, features) },
		WarningsOnCreate:         warningsForNewStatefulSet,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           statefulSetUpdateValidation(features),
		WarningsOnUpdate:         warningsForChangedStatefulSet,
		ValidateStatusUpdate:     validateStatefulSetStatus,
		Empty: func() *appsv1.StatefulSet {
			return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32)}}
		},
		GatedFields: podspec.GatedFields("spec.template.spec").And(
			kind.Gated(feature.MaxUnavailableStatefulSet, "spec.updateStrategy.rollingUpdate.maxUnavailable")),
		Columns: statefulSetColumns(),
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(s *appsv1.StatefulSet) (kind.Scaling, error) {
				return scaling(&s.Spec.Replicas, s.Status.Replicas, s.Spec.Selector)
			}),
		},
	}.Build(features)
}

func statefulSetColumns() []kind.Column[*appsv1.StatefulSet] {
	return kind.WorkloadColumns(statefulSetTemplate,
		kind.TextColumn("Ready", "Number of the pod with ready state", func(s *appsv1.StatefulSet) any {
			return fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, number(s.Spec.Replicas))
		}),
	)
}

func statefulSetTemplate(s *appsv1.StatefulSet) *corev1.PodTemplateSpec { return &s.Spec.Template }
