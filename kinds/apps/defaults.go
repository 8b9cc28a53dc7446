package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// revisionHistory is how many old templates are kept to roll back to.
const revisionHistory = 10

func defaultDeployment(d *appsv1.Deployment) {
	spec := &d.Spec
	podspec.DefaultTemplate(&spec.Template)
	kind.SetDefaultPointer(&spec.Replicas, 1)
	kind.SetDefaultPointer(&spec.RevisionHistoryLimit, revisionHistory)
	kind.SetDefaultPointer(&spec.ProgressDeadlineSeconds, 600)
	kind.SetDefault(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		kind.SetDefaultPointer(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		kind.SetDefaultPointer(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		kind.SetDefaultPointer(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
}

func defaultReplicaSet(r *appsv1.ReplicaSet) {
	podspec.DefaultTemplate(&r.Spec.Template)
	kind.SetDefaultPointer(&r.Spec.Replicas, 1)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	setTemplateGeneration(d, templateGeneration(d))
	spec := &d.Spec
	podspec.DefaultTemplate(&spec.Template)
	kind.SetDefaultPointer(&spec.RevisionHistoryLimit, revisionHistory)
	kind.SetDefault(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		kind.SetDefaultPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		kind.SetDefaultPointer(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil { // whatever the type
		kind.SetDefaultPointer(&rolling.MaxUnavailable, intstr.FromInt32(0))
		kind.SetDefaultPointer(&rolling.MaxSurge, intstr.FromInt32(0))
	}
}

// defaultStatefulSet gives a partition to a rolling update that was not asked
// for, or asked for with its parameters.
func defaultStatefulSet(s *appsv1.StatefulSet) {
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
	}
	kind.SetDefaultPointer(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	kind.SetDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	kind.SetDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	nameClaimTemplates(s)
	for i := range spec.VolumeClaimTemplates {
		podspec.DefaultClaim(&spec.VolumeClaimTemplates[i])
	}
}

// nameClaimTemplates puts apiVersion and kind into the templates of claims, as
// kube-apiserver shows them although it does not store them.
func nameClaimTemplates(s *appsv1.StatefulSet) {
	for i := range s.Spec.VolumeClaimTemplates {
		s.Spec.VolumeClaimTemplates[i].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
	}
}
