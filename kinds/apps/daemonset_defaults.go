package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

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
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil { // of any type
		kind.SetDefaultPointer(&rolling.MaxUnavailable, intstr.FromInt32(0))
		kind.SetDefaultPointer(&rolling.MaxSurge, intstr.FromInt32(0))
	}
}
