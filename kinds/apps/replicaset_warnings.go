package apps

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warningsForNewReplicaSet(r *appsv1.ReplicaSet) []string {
	return append(kind.WarningsForName(r.Name), warningsForReplicaSet(r)...)
}

func warningsForReplicaSet(r *appsv1.ReplicaSet) []string {
	return warningsForTemplate(&r.Spec.Template)
}
