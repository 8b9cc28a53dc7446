package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"

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
		Default:                  defaultStatefulSet,
		Restore:                  defaultStatefulSet,
		ValidateName:             validation.NameIsDNSLabel,
		PrepareForCreate:         func(s *appsv1.StatefulSet) { dropDisabledOfStatefulSet(s, nil) },
		ValidateCreate:           validateNewStatefulSet,
		WarningsOnCreate:         warningsForNewStatefulSet,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         dropDisabledOfStatefulSet,
		ValidateUpdate:           validateStatefulSetUpdate,
		WarningsOnUpdate:         warningsForChangedStatefulSet,
		ValidateStatusUpdate:     validateStatefulSetStatus,
		Columns:                  statefulSetColumns(),
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(s *appsv1.StatefulSet) (kind.Scaling, error) {
				return scaling(&s.Spec.Replicas, s.Status.Replicas, s.Spec.Selector)
			}),
		},
	}.Build(features)
}

// dropDisabledOfStatefulSet drops disabled fields, unless old has them.
func dropDisabledOfStatefulSet(s, old *appsv1.StatefulSet) {
	var before *corev1.PodTemplateSpec
	if old != nil {
		before = &old.Spec.Template
	}
	podspec.DropDisabledOfTemplate(&s.Spec.Template, before)
	dropMaxUnavailable(s, old)
}

func dropMaxUnavailable(s, old *appsv1.StatefulSet) {
	if old != nil && old.Spec.UpdateStrategy.RollingUpdate != nil && old.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable != nil {
		return
	}
	if rolling := s.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		rolling.MaxUnavailable = nil
	}
}

func statefulSetColumns() []kind.Column[*appsv1.StatefulSet] {
	return kind.WorkloadColumns(statefulSetTemplate,
		kind.TextColumn("Ready", "Number of the pod with ready state", func(s *appsv1.StatefulSet) any {
			return fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, number(s.Spec.Replicas))
		}),
	)
}

func statefulSetTemplate(s *appsv1.StatefulSet) *corev1.PodTemplateSpec { return &s.Spec.Template }
