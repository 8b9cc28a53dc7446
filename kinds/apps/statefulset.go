package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func statefulSets() *registry.Resource {
	return kind.Definition{
		GroupVersion: appsv1.SchemeGroupVersion,
		Object:       &appsv1.StatefulSet{},
		List:         &appsv1.StatefulSetList{},
		Resource:     "statefulsets",
		ShortNames:   []string{"sts"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultStatefulSet),
		Restore:      kind.Defaults(defaultStatefulSet),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateStatefulSet)},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateStatefulSetUpdate),
			},
		},
		Columns: registry.Columns{Definitions: statefulSetColumns(), Row: kind.Row(statefulSetRow)},
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(s *appsv1.StatefulSet) (kind.Scaling, error) {
				return scaling(&s.Spec.Replicas, s.Status.Replicas, s.Spec.Selector)
			}),
		},
	}.Build()
}

// validateStatefulSetUpdate compares what is left of the specs without the
// fields that may change.
func validateStatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	rest := *s.Spec.DeepCopy()
	rest.Replicas = old.Spec.Replicas
	rest.Template = old.Spec.Template
	rest.UpdateStrategy = old.Spec.UpdateStrategy
	rest.MinReadySeconds = old.Spec.MinReadySeconds
	rest.Ordinals = old.Spec.Ordinals
	rest.RevisionHistoryLimit = old.Spec.RevisionHistoryLimit
	rest.PersistentVolumeClaimRetentionPolicy = old.Spec.PersistentVolumeClaimRetentionPolicy
	errs := validateStatefulSet(s)
	if equality.Semantic.DeepEqual(rest, old.Spec) {
		return errs
	}
	return append(errs, field.Forbidden(field.NewPath("spec"),
		"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "+
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))
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
