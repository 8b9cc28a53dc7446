package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func statefulSets() *registry.Resource {
	return kind.Definition{
		GroupVersion: appsv1.SchemeGroupVersion,
		Object:       &appsv1.StatefulSet{},
		List:         &appsv1.StatefulSetList{},
		Resource:     "statefulsets",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"sts"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultStatefulSet),
		Restore:      kind.Defaults(defaultStatefulSet),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				ValidateName: validation.NameIsDNSLabel,
				Prepare:      kind.OnCreate(func(s *appsv1.StatefulSet) { dropDisabledOfStatefulSet(s, nil) }),
				Validate:     kind.CheckCreate(validateNewStatefulSet),
				Warnings:     kind.WarnCreate(warnOfNewStatefulSet),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(dropDisabledOfStatefulSet),
				Validate:           kind.CheckUpdate(validateStatefulSetUpdate),
				Warnings:           kind.WarnUpdate(warnOfChangedStatefulSet),
			},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateStatefulSetStatus)},
		Columns:        registry.Columns{Definitions: statefulSetColumns(), Row: kind.Row(statefulSetRow)},
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(s *appsv1.StatefulSet) (kind.Scaling, error) {
				return scaling(&s.Spec.Replicas, s.Status.Replicas, s.Spec.Selector)
			}),
		},
	}.Build()
}

// dropDisabledOfStatefulSet leaves what is turned off to those that have it
// already.
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

func statefulSetColumns() []metav1.TableColumnDefinition {
	columns := []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Ready", "string", "Number of the pod with ready state"),
		kind.AgeColumn(),
	}
	return append(columns, kind.ContainerColumns()...)
}

func statefulSetRow(s *appsv1.StatefulSet) []any {
	names, images := kind.ContainerCells(s.Spec.Template.Spec.Containers)
	return []any{
		s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, number(s.Spec.Replicas)), kind.Age(s.CreationTimestamp),
		names, images,
	}
}
