package core

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestNodeRows(t *testing.T) {
	condition := func(typ corev1.NodeConditionType, status corev1.ConditionStatus) corev1.NodeStatus {
		return corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: typ, Status: status}}}
	}
	for _, tc := range []struct {
		about  string
		status corev1.NodeStatus
		want   []any // status, and the wide columns
	}{
		{"an empty status", corev1.NodeStatus{}, []any{"Unknown", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"}},
		{"a condition other than Ready", condition(corev1.NodeMemoryPressure, corev1.ConditionTrue),
			[]any{"Unknown", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"}},
		{"an unknown readiness", condition(corev1.NodeReady, corev1.ConditionUnknown),
			[]any{"NotReady", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"}},
		{"a ready node", corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: "n"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.1"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.2"},
			},
			NodeInfo: corev1.NodeSystemInfo{OSImage: "Linux", KernelVersion: "6", ContainerRuntimeVersion: "c://1"},
		}, []any{"Ready", "10.0.0.1", "<none>", "Linux", "6", "c://1"}},
	} {
		t.Run(tc.about, func(t *testing.T) {
			cells := registrytest.Cells(nodes(feature.Default()), &corev1.Node{Status: tc.status})
			if diff := cmp.Diff(tc.want, append(cells[1:2:2], cells[5:]...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventRows(t *testing.T) {
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(time.Now().Add(-d)) }
	micro := func(t metav1.Time) metav1.MicroTime { return metav1.NewMicroTime(t.Time) }
	for _, tc := range []struct {
		about string
		event corev1.Event
		want  []any // last seen, object, source, first seen, count
	}{
		{"without a series", corev1.Event{
			FirstTimestamp: ago(2 * time.Hour), LastTimestamp: ago(time.Hour), Count: 3,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p"}, Source: corev1.EventSource{Component: "kubelet", Host: "n"},
		}, []any{"60m", "pod/p", "kubelet, n", "120m", int64(3)}},
		{"once", corev1.Event{
			EventTime: micro(ago(time.Hour)), ReportingController: "c", InvolvedObject: corev1.ObjectReference{Kind: "Node"},
		}, []any{"60m", "node", "c", "60m", int64(1)}},
		{"a series", corev1.Event{
			EventTime: micro(ago(2 * time.Hour)), Series: &corev1.EventSeries{Count: 5, LastObservedTime: micro(ago(time.Hour))},
		}, []any{"60m", "", "", "120m", int64(5)}},
	} {
		t.Run(tc.about, func(t *testing.T) {
			cells := registrytest.Cells(Events().Build(feature.Default()), &tc.event)
			if diff := cmp.Diff(tc.want, []any{cells[0], cells[3], cells[5], cells[7], cells[8]}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPhasesInRows covers the phases of deleted objects.
func TestPhasesInRows(t *testing.T) {
	gone := metav1.ObjectMeta{Name: "x", DeletionTimestamp: new(metav1.Now())}
	for _, tc := range []struct {
		about, want string
		cell        any
	}{
		{"a claim", "Bound", registrytest.Cells(persistentVolumeClaims(feature.Default()), &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}})[1]},
		{"a deleted claim", "Terminating", registrytest.Cells(persistentVolumeClaims(feature.Default()), &corev1.PersistentVolumeClaim{ObjectMeta: gone, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}})[1]},
		{"a volume", "Released", registrytest.Cells(persistentVolumes(feature.Default()), &corev1.PersistentVolume{Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased}})[4]},
		{"a deleted volume", "Terminating", registrytest.Cells(persistentVolumes(feature.Default()), &corev1.PersistentVolume{ObjectMeta: gone})[4]},
		{"a namespace has its own phase", "Terminating", cellsOf(namespaces(feature.Default()).Columns.Row, &corev1.Namespace{ObjectMeta: gone, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}})[1]},
	} {
		t.Run(tc.about, func(t *testing.T) {
			if tc.cell != tc.want {
				t.Errorf("got %v, want %s", tc.cell, tc.want)
			}
		})
	}
}

func TestReplicationControllerRow(t *testing.T) {
	r := &corev1.ReplicationController{
		Spec: corev1.ReplicationControllerSpec{Replicas: new(int32(3)), Selector: map[string]string{"a": "b"}, Template: &corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}, {Name: "d", Image: "j"}}},
		}},
		Status: corev1.ReplicationControllerStatus{Replicas: 2, ReadyReplicas: 1},
	}
	cells := registrytest.Cells(replicationControllers(feature.Default()), r)
	want := []any{int64(3), int64(2), int64(1), "c,d", "i,j", "a=b"}
	if diff := cmp.Diff(want, append(cells[1:4:4], cells[5:]...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func cellsOf(row func(runtime.Object) ([]any, []metav1.TableRowCondition), obj runtime.Object) []any {
	cells, _ := row(obj)
	return cells
}
