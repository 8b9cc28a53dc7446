package apps

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warnOfNewReplicaSet(r *appsv1.ReplicaSet) []string {
	return append(kind.WarnOfName(r.Name), warnOfReplicaSet(r)...)
}

func warnOfReplicaSet(r *appsv1.ReplicaSet) []string { return warnOfTemplate(&r.Spec.Template) }
