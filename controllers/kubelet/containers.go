package kubelet

import (
	"crypto/sha256"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Exit codes of containers that a signal ends.
const (
	killedExitCode     = 137
	terminatedExitCode = 143
)

// exit is the end of a container.
type exit struct {
	code int32
	at   metav1.Time
}

func (e exit) state(status *corev1.ContainerStatus) corev1.ContainerStateTerminated {
	terminated := corev1.ContainerStateTerminated{
		ExitCode: e.code, Reason: "Completed", StartedAt: e.at, FinishedAt: e.at, ContainerID: status.ContainerID,
	}
	if e.code != 0 {
		terminated.Reason = "Error"
	}
	if status.State.Running != nil {
		terminated.StartedAt = status.State.Running.StartedAt
	}
	return terminated
}

// newContainer returns the status of a container that has started.
func newContainer(pod *corev1.Pod, c *corev1.Container, now metav1.Time) corev1.ContainerStatus {
	status := corev1.ContainerStatus{
		Name: c.Name, Ready: true, Started: new(true),
		ContainerID: fmt.Sprintf("containerd://%x", sha256.Sum256([]byte(string(pod.UID)+"/"+c.Name))),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}
	setSpec(&status, c)
	return status
}

// setSpec sets the fields that follow from the spec of a container.
func setSpec(status *corev1.ContainerStatus, c *corev1.Container) {
	status.Image = c.Image
	status.ImageID = fmt.Sprintf("%s@sha256:%x", c.Image, sha256.Sum256([]byte(c.Image)))
	status.AllocatedResources = c.Resources.Requests.DeepCopy()
	status.Resources = c.Resources.DeepCopy()
}

func runningContainers(pod *corev1.Pod, now metav1.Time) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range pod.Spec.Containers {
		statuses = append(statuses, newContainer(pod, &pod.Spec.Containers[i], now))
	}
	return statuses
}

// initContainers returns the statuses of init containers, which have completed, and of sidecar
// containers, which run.
func initContainers(pod *corev1.Pod, now metav1.Time) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		status := newContainer(pod, c, now)
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			terminated := exit{code: 0, at: now}.state(&status)
			status.State = corev1.ContainerState{Terminated: &terminated}
			status.Started = new(false)
		}
		statuses = append(statuses, status)
	}
	return statuses
}

// updateContainers adopts changed images and resources, and starts new ephemeral containers.
func updateContainers(pod *corev1.Pod, now metav1.Time) {
	for i := range pod.Spec.Containers {
		for j := range pod.Status.ContainerStatuses {
			if status := &pod.Status.ContainerStatuses[j]; status.Name == pod.Spec.Containers[i].Name {
				setSpec(status, &pod.Spec.Containers[i])
			}
		}
	}
	for i := len(pod.Status.EphemeralContainerStatuses); i < len(pod.Spec.EphemeralContainers); i++ {
		c := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		status := newContainer(pod, &c, now)
		status.Ready, status.Started = false, nil
		pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, status)
	}
}

// endContainers ends all containers that run or wait.
func endContainers(status *corev1.PodStatus, last exit) {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].State.Terminated != nil {
				continue
			}
			terminated := last.state(&list[i])
			list[i].State = corev1.ContainerState{Terminated: &terminated}
			list[i].Ready, list[i].Started = false, new(false)
		}
	}
}

// crashContainers makes the containers wait for a restart, and reports whether they ran before.
func crashContainers(pod *corev1.Pod, last exit) bool {
	crashed := false
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.State.Running == nil {
			continue
		}
		crashed = true
		terminated := last.state(status)
		status.LastTerminationState = corev1.ContainerState{Terminated: &terminated}
		status.RestartCount++
		status.Ready, status.Started = false, new(false)
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off 10s restarting failed container=%s pod=%s_%s(%s)", status.Name, pod.Name, pod.Namespace, pod.UID),
		}}
	}
	return crashed
}

func containerNames(pod *corev1.Pod) []string {
	var names []string
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	return names
}
