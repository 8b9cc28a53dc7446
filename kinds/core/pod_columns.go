package core

import (
	"cmp"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func podColumns() []kind.Column[*corev1.Pod] {
	spec, status := corev1.PodSpec{}.SwaggerDoc(), corev1.PodStatus{}.SwaggerDoc()
	return []kind.Column[*corev1.Pod]{
		kind.NameColumn[*corev1.Pod](),
		kind.TextColumn("Ready", "The aggregate readiness state of this pod for accepting traffic.", podReadyCell),
		kind.TextColumn("Status", "The aggregate status of the containers in this pod.",
			func(p *corev1.Pod) any { return podReason(p) }),
		kind.TextColumn("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
			func(p *corev1.Pod) any { return podRestarts(p).cell() }),
		kind.AgeColumn[*corev1.Pod](),
		kind.WideColumn("IP", status["podIP"], func(p *corev1.Pod) any { return cmp.Or(podIP(p), kind.None) }),
		kind.WideColumn("Node", spec["nodeName"], func(p *corev1.Pod) any { return cmp.Or(p.Spec.NodeName, kind.None) }),
		kind.WideColumn("Nominated Node", status["nominatedNodeName"],
			func(p *corev1.Pod) any { return cmp.Or(p.Status.NominatedNodeName, kind.None) }),
		kind.WideColumn("Readiness Gates", spec["readinessGates"], func(p *corev1.Pod) any { return readinessGates(p) }),
	}
}

// podRowConditions reports that a pod has completed.
func podRowConditions(p *corev1.Pod) []metav1.TableRowCondition {
	completed := metav1.TableRowCondition{
		Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(p.Status.Phase),
	}
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		completed.Message = "The pod has completed successfully."
	case corev1.PodFailed:
		completed.Message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{completed}
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return kind.None
	}
	open := 0
	for _, gate := range p.Spec.ReadinessGates {
		if c := podCondition(p, gate.ConditionType); c != nil && c.Status == corev1.ConditionTrue {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(p.Spec.ReadinessGates))
}

func podCondition(p *corev1.Pod, typ corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == typ {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func podConditionTrue(p *corev1.Pod, typ corev1.PodConditionType) bool {
	c := podCondition(p, typ)
	return c != nil && c.Status == corev1.ConditionTrue
}

// restarts is the number of restarts of containers and the time of the last one.
type restarts struct {
	count int
	last  metav1.Time
}

func (r *restarts) add(c *corev1.ContainerStatus) {
	r.count += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && r.last.Before(&t.FinishedAt) {
		r.last = t.FinishedAt
	}
}

func (r restarts) cell() any {
	if r.count == 0 || r.last.IsZero() {
		return strconv.Itoa(r.count)
	}
	return registry.Elapsed{Since: r.last, Format: fmt.Sprintf("%d (%%s ago)", r.count)}
}
