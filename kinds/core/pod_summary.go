package core

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// initialization is the progress of a pod's init containers.
type initialization struct {
	// pending is the index of the first status of an init container that is neither complete nor a
	// started sidecar; -1: there is none.
	pending int
	// ready is the number of ready sidecars before pending.
	ready int
	// restarts counts the init containers up to pending, sidecars the sidecars among them.
	restarts, sidecars restarts
}

// initialize returns the progress of a pod's init containers.
func initialize(p *corev1.Pod) initialization {
	result := initialization{pending: -1}
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		result.restarts.add(c)
		sidecar := isSidecar(p, c.Name)
		if sidecar {
			result.sidecars.add(c)
		}
		switch ended := c.State.Terminated; {
		case ended != nil && ended.ExitCode == 0:
		case sidecar && c.Started != nil && *c.Started:
			if c.Ready {
				result.ready++
			}
		default:
			result.pending = i
			return result
		}
	}
	return result
}

// done reports whether the cells show the containers rather than the init containers.
func (i *initialization) done(p *corev1.Pod) bool {
	return i.pending < 0 || podConditionTrue(p, corev1.PodInitialized)
}

// isSidecar reports whether the init container of that name keeps running.
func isSidecar(p *corev1.Pod, name string) bool {
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.Name == name && restartsAlways(c) {
			return true
		}
	}
	return false
}

func restartsAlways(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// podReadyCell returns the number of ready containers and of all containers, sidecars included.
func podReadyCell(p *corev1.Pod) any {
	progress := initialize(p)
	ready, total := progress.ready, len(p.Spec.Containers)
	for i := range p.Spec.InitContainers {
		if restartsAlways(&p.Spec.InitContainers[i]) {
			total++
		}
	}
	if progress.done(p) {
		for i := range p.Status.ContainerStatuses {
			if isReady(&p.Status.ContainerStatuses[i]) {
				ready++
			}
		}
	}
	return fmt.Sprintf("%d/%d", ready, total)
}

// isReady reports whether a container is ready and has no reason to show instead.
func isReady(c *corev1.ContainerStatus) bool {
	waiting := c.State.Waiting != nil && c.State.Waiting.Reason != ""
	return !waiting && c.State.Terminated == nil && c.Ready && c.State.Running != nil
}

func podRestarts(p *corev1.Pod) restarts {
	progress := initialize(p)
	if !progress.done(p) {
		return progress.restarts
	}
	result := progress.sidecars
	for i := range p.Status.ContainerStatuses {
		result.add(&p.Status.ContainerStatuses[i])
	}
	return result
}

// podReason returns the most specific reason for the state of a pod: of the first init container
// that is not complete, else of the first container that waits or has ended, else the phase.
func podReason(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		switch {
		case p.Status.Reason == "NodeLost":
			return "Unknown"
		case p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded:
			return "Terminating"
		}
	}
	progress := initialize(p)
	if !progress.done(p) {
		return initReason(p, progress.pending)
	}
	reason, running := containersReason(p)
	switch {
	case reason != "":
	case progress.pending >= 0:
		reason = initReason(p, progress.pending)
	default:
		reason = generalReason(p)
	}
	switch {
	case reason != "Completed" || !running:
		return reason
	case podConditionTrue(p, corev1.PodReady):
		return "Running"
	default:
		// One container has completed, another one runs.
		return "NotReady"
	}
}

// generalReason returns the reason of a pod whose containers have none.
func generalReason(p *corev1.Pod) string {
	if c := podCondition(p, corev1.PodScheduled); c != nil && c.Reason == corev1.PodReasonSchedulingGated {
		return corev1.PodReasonSchedulingGated
	}
	return cmp.Or(p.Status.Reason, string(p.Status.Phase))
}

// initReason returns the reason of the init container that a pod waits for.
func initReason(p *corev1.Pod, pending int) string {
	state := &p.Status.InitContainerStatuses[pending].State
	switch {
	case state.Terminated != nil:
		return "Init:" + endReason(state.Terminated)
	case state.Waiting != nil && state.Waiting.Reason != "" && state.Waiting.Reason != "PodInitializing":
		return "Init:" + state.Waiting.Reason
	default:
		return fmt.Sprintf("Init:%d/%d", pending, len(p.Spec.InitContainers))
	}
}

// containersReason returns the reason of the first container that has one, and whether a container
// is ready.
func containersReason(p *corev1.Pod) (reason string, running bool) {
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		running = running || isReady(c)
		if reason == "" {
			reason = containerReason(c)
		}
	}
	return reason, running
}

func containerReason(c *corev1.ContainerStatus) string {
	switch {
	case c.State.Waiting != nil && c.State.Waiting.Reason != "":
		return c.State.Waiting.Reason
	case c.State.Terminated != nil:
		return endReason(c.State.Terminated)
	default:
		return ""
	}
}

func endReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	default:
		return fmt.Sprintf("ExitCode:%d", t.ExitCode)
	}
}
