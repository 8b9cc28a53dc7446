package core

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func ended(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func runs() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

// TestPodCells covers the cells of pods with problems.
func TestPodCells(t *testing.T) {
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	sidecar := corev1.Container{Name: "s", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}
	hourAgo := metav1.NewTime(time.Now().Add(-time.Hour))
	for _, tc := range []struct {
		name                    string
		pod                     corev1.Pod
		ready, reason, restarts string
	}{
		{"the phase without other information", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, "0/1", "Pending", "0"},
		{"the reason of the pod", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}, "0/1", "Evicted", "0"},
		{"gates", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Reason: corev1.PodReasonSchedulingGated},
		}}}, "0/1", "SchedulingGated", "0"},
		{"a waiting container", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{State: waiting("CrashLoopBackOff"), RestartCount: 3, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{FinishedAt: hourAgo},
			}},
		}}}, "0/1", "CrashLoopBackOff", "3 (60m ago)"},
		{"a container that ended without a reason", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{State: ended(2, "")},
		}}}, "0/1", "ExitCode:2", "0"},
		{"a killed container", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Signal: 9}}},
		}}}, "0/1", "Signal:9", "0"},
		{"one of two containers is completed", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{State: ended(0, "Completed")}, {State: runs(), Ready: true},
		}}}, "1/1", "NotReady", "0"},
		{"one of two containers is completed and the pod is ready", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{ready},
			ContainerStatuses: []corev1.ContainerStatus{{State: ended(0, "Completed")}, {State: runs(), Ready: true}}}}, "1/1", "Running", "0"},
		{"the second init container", corev1.Pod{Spec: corev1.PodSpec{InitContainers: make([]corev1.Container, 2)},
			Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{State: ended(0, "Completed"), RestartCount: 1}, {State: waiting("PodInitializing")}}}},
			"0/1", "Init:1/2", "1"},
		{"an init container that cannot start", corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{State: waiting("ErrImagePull")}}}},
			"0/1", "Init:ErrImagePull", "0"},
		{"an init container that failed", corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{State: ended(1, "")}}}},
			"0/1", "Init:ExitCode:1", "0"},
		{"a sidecar counts", corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{sidecar}}, Status: corev1.PodStatus{
			Phase:                 corev1.PodRunning,
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "s", Started: new(true), Ready: true, RestartCount: 2, State: runs()}},
			ContainerStatuses:     []corev1.ContainerStatus{{State: runs(), Ready: true, RestartCount: 1}},
		}}, "2/2", "Running", "3"},
		{"a deletion", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &hourAgo}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, "0/1", "Terminating", "0"},
		{"a deletion of a completed pod", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &hourAgo}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, "0/1", "Succeeded", "0"},
		{"a deletion on a lost node", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &hourAgo}, Status: corev1.PodStatus{Reason: "NodeLost"}}, "0/1", "Unknown", "0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.pod.Spec.Containers = make([]corev1.Container, 1)
			cells := registrytest.Cells(pods(feature.Default()), &tc.pod)
			if cells[1] != tc.ready || cells[2] != tc.reason || cells[3] != tc.restarts {
				t.Errorf("got %v %v %v, want %v %v %v", cells[1], cells[2], cells[3], tc.ready, tc.reason, tc.restarts)
			}
		})
	}
}

func TestPodRowConditions(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]int{corev1.PodSucceeded: 1, corev1.PodFailed: 1, corev1.PodRunning: 0} {
		if _, got := pods(feature.Default()).Columns.Row(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}); len(got) != want {
			t.Errorf("%s: conditions %v, want %d", phase, got, want)
		}
	}
}

func TestReadinessGatesCell(t *testing.T) {
	pod := &corev1.Pod{
		Spec:   corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "a"}, {ConditionType: "b"}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "a", Status: corev1.ConditionTrue}}},
	}
	if got := readinessGates(pod); got != "1/2" {
		t.Errorf("got %s, want 1/2", got)
	}
}

func TestNodeCells(t *testing.T) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "worker",
		}},
		Spec:   corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}},
	}
	cells := registrytest.Cells(nodes(feature.Default()), node)
	if cells[1] != "NotReady,SchedulingDisabled" || cells[2] != "control-plane,worker" {
		t.Errorf("got %v %v", cells[1], cells[2])
	}
}

func TestVolumeCells(t *testing.T) {
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteMany}
	now := metav1.Now()
	volume := registrytest.Cells(persistentVolumes(feature.Default()), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, Annotations: map[string]string{corev1.BetaStorageClassAnnotation: "old"}},
		Spec:       corev1.PersistentVolumeSpec{AccessModes: modes, ClaimRef: &corev1.ObjectReference{Namespace: "x", Name: "c"}},
	})
	if volume[2] != "RWO,RWX" || volume[4] != "Terminating" || volume[5] != "x/c" || volume[6] != "old" {
		t.Errorf("volume: %v", volume)
	}
	claim := registrytest.Cells(persistentVolumeClaims(feature.Default()), &corev1.PersistentVolumeClaim{
		Spec:   corev1.PersistentVolumeClaimSpec{VolumeName: "v", StorageClassName: new("fast")},
		Status: corev1.PersistentVolumeClaimStatus{AccessModes: modes, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	})
	if claim[3] != "1Gi" || claim[4] != "RWO,RWX" || claim[5] != "fast" {
		t.Errorf("claim: %v", claim)
	}
}

func TestResourceQuotaCells(t *testing.T) {
	list := func(quantity string) corev1.ResourceList {
		q := resource.MustParse(quantity)
		return corev1.ResourceList{"pods": q, "limits.cpu": q, "requests.cpu": q}
	}
	cells := registrytest.Cells(resourceQuotas(feature.Default()), &corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Hard: list("4"), Used: list("1")}})
	if cells[1] != "pods: 1/4, requests.cpu: 1/4" || cells[2] != "limits.cpu: 1/4" {
		t.Errorf("got %v | %v", cells[1], cells[2])
	}
}

func TestExternalAddressesOfAService(t *testing.T) {
	balanced := corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "10.0.0.2"}, {Hostname: "a.example.com"}}}
	for _, tc := range []struct {
		want    string
		service corev1.Service
	}{
		{"10.0.0.2,a.example.com,10.0.0.9", corev1.Service{
			Spec:   corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalIPs: []string{"10.0.0.9"}},
			Status: corev1.ServiceStatus{LoadBalancer: balanced},
		}},
		{"<pending>", corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}},
		{"10.0.0.9", corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ExternalIPs: []string{"10.0.0.9"}}}},
	} {
		if got := externalIPCell(&tc.service); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestEndpointsCellShowsThree(t *testing.T) {
	subset := corev1.EndpointSubset{Addresses: make([]corev1.EndpointAddress, 4), Ports: []corev1.EndpointPort{{Port: 80}}}
	if got := addressesCell([]corev1.EndpointSubset{subset}); got != ":80,:80,:80 + 1 more..." {
		t.Errorf("got %s", got)
	}
	if got := addressesCell(nil); got != "<none>" {
		t.Errorf("no subsets: %s", got)
	}
}
