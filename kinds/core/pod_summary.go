package core

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// podSummary is what one line can say about a pod.
type podSummary struct {
	ready, total int
	reason       string
	restarts     restarts
}

// summarizePod tells the reason that matters most: what keeps the first init
// container from finishing, else what the first container waits for or ended
// with, else the phase.
func summarizePod(p *corev1.Pod) podSummary {
	s := podSummary{total: len(p.Spec.Containers), reason: cmp.Or(p.Status.Reason, string(p.Status.Phase))}
	if c := podCondition(p, corev1.PodScheduled); c != nil && c.Reason == corev1.PodReasonSchedulingGated {
		s.reason = corev1.PodReasonSchedulingGated
	}
	sidecars := sidecarNames(p)
	s.total += len(sidecars)
	ofSidecars, initializing := s.addInitContainers(p, sidecars)
	if !initializing || podConditionTrue(p, corev1.PodInitialized) {
		s.restarts = ofSidecars
		s.addContainers(p)
	}
	if p.DeletionTimestamp == nil {
		return s
	}
	switch {
	case p.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded:
		s.reason = "Terminating"
	}
	return s
}

// sidecarNames are the init containers that keep running.
func sidecarNames(p *corev1.Pod) map[string]bool {
	names := make(map[string]bool)
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			names[c.Name] = true
		}
	}
	return names
}

// addInitContainers stops at the first one which is not through.
func (s *podSummary) addInitContainers(p *corev1.Pod, sidecars map[string]bool) (ofSidecars restarts, initializing bool) {
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		s.restarts.add(c)
		sidecar := sidecars[c.Name]
		if sidecar {
			ofSidecars.add(c)
		}
		ended, waiting := c.State.Terminated, c.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecar && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.reason = "Init:" + endReason(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.reason = "Init:" + waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return ofSidecars, true
	}
	return ofSidecars, false
}

// addContainers goes backwards: the reason of the first container wins.
func (s *podSummary) addContainers(p *corev1.Pod) {
	running := false
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.Status.ContainerStatuses[i]
		s.restarts.add(c)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.reason = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s.reason = endReason(c.State.Terminated)
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.reason != "Completed" || !running {
		return
	}
	// One container is through, another still runs.
	s.reason = "NotReady"
	if podConditionTrue(p, corev1.PodReady) {
		s.reason = "Running"
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
