package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultStatefulSet sets the parameters of a rolling update if the type is unset or parameters
// are given.
func defaultStatefulSet(s *appsv1.StatefulSet, features *feature.Set) {
	spec := &s.Spec
	podspec.DefaultTemplate(&spec.Template)
	kind.SetDefaultPointer(&spec.Replicas, 1)
	kind.SetDefaultPointer(&spec.RevisionHistoryLimit, revisionHistory)
	kind.SetDefault(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		kind.SetDefaultPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil && spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		kind.SetDefaultPointer(&rolling.Partition, 0)
		if features.Enabled(feature.MaxUnavailableStatefulSet) {
			kind.SetDefaultPointer(&rolling.MaxUnavailable, intstr.FromInt32(1))
		}
	}
	kind.SetDefaultPointer(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	kind.SetDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	kind.SetDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	nameClaimTemplates(s)
	for i := range spec.VolumeClaimTemplates {
		podspec.DefaultClaim(&spec.VolumeClaimTemplates[i])
	}
}

// nameClaimTemplates sets apiVersion and kind of the claim templates: kube-apiserver serves them
// although it does not store them.
func nameClaimTemplates(s *appsv1.StatefulSet) {
	for i := range s.Spec.VolumeClaimTemplates {
		s.Spec.VolumeClaimTemplates[i].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
	}
}
