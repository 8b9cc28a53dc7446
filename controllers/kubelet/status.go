package kubelet

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/versioner"
)

const (
	// exitCodeAnnotation is the exit code of the containers of a pod that does not restart always,
	// or keepRunning. Without it the exit code is 0.
	exitCodeAnnotation = "miniapi.dev/exit-code"
	keepRunning        = "none"
	// terminationAnnotation has the value ignoreTermination if the containers of a pod ignore the
	// signal to terminate, and are killed at the end of the grace period.
	terminationAnnotation = "miniapi.dev/termination"
	ignoreTermination     = "ignore"
)

// exitCode returns the exit code of the containers of a running pod, and whether they exit. It
// returns an error, and the containers do not exit, if the annotation is invalid.
func exitCode(pod *corev1.Pod) (code int32, exits bool, err error) {
	value, ok := pod.Annotations[exitCodeAnnotation]
	switch {
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways, value == keepRunning:
		return 0, false, nil
	case !ok:
		return 0, true, nil
	}
	parsed, err := strconv.ParseUint(value, 10, 8)
	if err != nil {
		return 0, false, fmt.Errorf("annotation %s: %q is neither a number from 0 to 255 nor %q", exitCodeAnnotation, value, keepRunning)
	}
	return int32(parsed), true, nil
}

// untilKilled returns the time until the containers of a pod that is being deleted are killed. It
// is not positive if they end at once.
func untilKilled(pod *corev1.Pod, now time.Time) time.Duration {
	if pod.Annotations[terminationAnnotation] != ignoreTermination || pods.HasEnded(pod) {
		return 0
	}
	return pod.DeletionTimestamp.Sub(now)
}

// podNetwork is the range of the addresses of pods, which do not exist.
const (
	podNetwork     = "100.64.0.0"
	podNetworkSize = 1 << 22
)

// podIP returns an address for a pod from its revision. It is unique until podNetworkSize further
// writes.
func podIP(pod *corev1.Pod) (string, error) {
	revision, err := versioner.APIObjectVersioner{}.ObjectResourceVersion(pod)
	if err != nil {
		return "", err
	}
	base := netip.MustParseAddr(podNetwork).As4()
	host := uint32(revision%(podNetworkSize-3)) + 2 // neither the network, the node, nor the broadcast
	for i := 3; i >= 0; i-- {
		base[i] |= byte(host)
		host >>= 8
	}
	return netip.AddrFrom4(base).String(), nil
}

func setAddresses(status *corev1.PodStatus, host, pod string) {
	status.HostIP, status.HostIPs = host, []corev1.HostIP{{IP: host}}
	status.PodIP, status.PodIPs = pod, []corev1.PodIP{{IP: pod}}
}

// setRunning sets the status of a pod whose containers have started.
func setRunning(pod *corev1.Pod, now metav1.Time) {
	status := &pod.Status
	status.Phase = corev1.PodRunning
	status.StartTime = &now
	status.InitContainerStatuses = initContainers(pod, now)
	status.ContainerStatuses = runningContainers(pod, now)
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized} {
		setCondition(pod, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}, now)
	}
	setCondition(pod, readiness(pod), now)
	setCondition(pod, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, now)
	setCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, now)
	status.ObservedGeneration = pod.Generation
}

// follow updates the status of a running pod for a new generation of its spec, and the condition
// Ready of a pod with readiness gates.
func follow(pod *corev1.Pod, now metav1.Time) {
	if pod.Status.ObservedGeneration != pod.Generation {
		updateContainers(pod, now)
		pod.Status.ObservedGeneration = pod.Generation
	}
	if len(pod.Spec.ReadinessGates) > 0 {
		setCondition(pod, readiness(pod), now)
	}
}

// readiness returns the condition Ready of a pod whose containers are ready.
func readiness(pod *corev1.Pod) corev1.PodCondition {
	var unmet []string
	for _, gate := range pod.Spec.ReadinessGates {
		switch condition := pods.Condition(pod, gate.ConditionType); {
		case condition == nil:
			unmet = append(unmet, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case condition.Status != corev1.ConditionTrue:
			unmet = append(unmet, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate.ConditionType, condition.Status))
		}
	}
	if len(unmet) > 0 {
		return corev1.PodCondition{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: strings.Join(unmet, ", "),
		}
	}
	return corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
}

// setExited sets the status of a pod whose containers have exited. Containers that fail are
// restarted once and then wait if the restart policy is OnFailure.
func setExited(pod *corev1.Pod, code int32, now metav1.Time) {
	last := exit{code: code, at: now}
	switch {
	case code == 0:
		setEnded(pod, corev1.PodSucceeded, last)
	case pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		setCrashing(pod, last)
	default:
		setEnded(pod, corev1.PodFailed, last)
	}
}

// setTerminated sets the status of a pod whose containers have received a signal to terminate, or
// have been killed.
func setTerminated(pod *corev1.Pod, now metav1.Time) {
	if pod.Annotations[terminationAnnotation] == ignoreTermination {
		setEnded(pod, corev1.PodFailed, exit{code: killedExitCode, at: now})
		return
	}
	if pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
		setEnded(pod, corev1.PodSucceeded, exit{code: 0, at: now})
		return
	}
	setEnded(pod, corev1.PodFailed, exit{code: terminatedExitCode, at: now})
}

func setEnded(pod *corev1.Pod, phase corev1.PodPhase, last exit) {
	reason := "PodCompleted"
	if phase == corev1.PodFailed {
		reason = "PodFailed"
	}
	pod.Status.Phase = phase
	endContainers(&pod.Status, last)
	setCondition(pod, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse}, last.at)
	setCondition(pod, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: reason}, last.at)
	setCondition(pod, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Reason: reason}, last.at)
	pod.Status.ObservedGeneration = pod.Generation
}

// setCrashing sets the status of a pod whose containers fail again and again.
func setCrashing(pod *corev1.Pod, last exit) {
	if !crashContainers(pod, last) {
		return
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		setCondition(pod, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionFalse, Reason: "ContainersNotReady",
			Message: fmt.Sprintf("containers with unready status: [%s]", strings.Join(containerNames(pod), " ")),
		}, last.at)
	}
}

// setCondition adds or replaces a condition. The time of the transition stays while the status is
// the same.
func setCondition(pod *corev1.Pod, condition corev1.PodCondition, now metav1.Time) {
	condition.ObservedGeneration = pod.Generation
	condition.LastTransitionTime = now
	current := pods.Condition(pod, condition.Type)
	if current == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		return
	}
	condition.LastProbeTime = current.LastProbeTime
	if current.Status == condition.Status {
		condition.LastTransitionTime = current.LastTransitionTime
	}
	*current = condition
}
