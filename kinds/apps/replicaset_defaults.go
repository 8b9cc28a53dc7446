package apps

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func defaultReplicaSet(r *appsv1.ReplicaSet) {
	podspec.DefaultTemplate(&r.Spec.Template)
	kind.SetDefaultPointer(&r.Spec.Replicas, 1)
}
