package apps

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestRows(t *testing.T) {
	three := new(int32(3))
	template := pods()
	template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	deployment := &appsv1.Deployment{
		Spec:   appsv1.DeploymentSpec{Replicas: three, Selector: selector(), Template: template},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 1, UpdatedReplicas: 2, AvailableReplicas: 1},
	}
	daemonSet := &appsv1.DaemonSet{
		Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: template},
		Status: appsv1.DaemonSetStatus{
			DesiredNumberScheduled: 5, CurrentNumberScheduled: 4, NumberReady: 3, UpdatedNumberScheduled: 2, NumberAvailable: 1,
		},
	}
	for _, c := range []struct {
		kind      string
		want, got []any
	}{
		{"Deployment", []any{"", "1/3", int64(2), int64(1), "<unknown>", "c", "i", "a=b"}, registrytest.Cells(deployments(feature.Default()), deployment)},
		{"Deployment that nobody has seen", []any{"", "0/0", int64(0), int64(0), "<unknown>", "", "", ""}, registrytest.Cells(deployments(feature.Default()), &appsv1.Deployment{})},
		{"StatefulSet", []any{"", "2/3", "<unknown>", "c", "i"}, registrytest.Cells(statefulSets(feature.Default()), &appsv1.StatefulSet{
			Spec: appsv1.StatefulSetSpec{Replicas: three, Template: template}, Status: appsv1.StatefulSetStatus{ReadyReplicas: 2},
		})},
		{"ReplicaSet", []any{"", int64(3), int64(2), int64(1), "<unknown>", "c", "i", "a=b"}, registrytest.Cells(replicaSets(feature.Default()), &appsv1.ReplicaSet{
			Spec:   appsv1.ReplicaSetSpec{Replicas: three, Selector: selector(), Template: template},
			Status: appsv1.ReplicaSetStatus{Replicas: 2, ReadyReplicas: 1},
		})},
		{"DaemonSet", []any{"", int64(5), int64(4), int64(3), int64(2), int64(1), "disk=ssd", "<unknown>", "c", "i", "a=b"}, registrytest.Cells(daemonSets(feature.Default()), daemonSet)},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.kind, diff)
		}
	}
}
