package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// revisionHistory is the default number of old ReplicaSets that are kept for a rollback.
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
