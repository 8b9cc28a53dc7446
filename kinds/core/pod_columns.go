package core

import (
	"cmp"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
)

func podColumns() []metav1.TableColumnDefinition {
	spec, status := corev1.PodSpec{}.SwaggerDoc(), corev1.PodStatus{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Ready", "string", "The aggregate readiness state of this pod for accepting traffic."),
		kind.Column("Status", "string", "The aggregate status of the containers in this pod."),
		kind.Column("Restarts", "string", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
		kind.AgeColumn(),
		kind.WideColumn("IP", "string", status["podIP"]),
		kind.WideColumn("Node", "string", spec["nodeName"]),
		kind.WideColumn("Nominated Node", "string", status["nominatedNodeName"]),
		kind.WideColumn("Readiness Gates", "string", spec["readinessGates"]),
	}
}

func podRow(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
	p := obj.(*corev1.Pod)
	s := summarizePod(p)
	return []any{
		p.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.reason, s.restarts.cell(), kind.Age(p.CreationTimestamp),
		cmp.Or(podIP(p), kind.None), cmp.Or(p.Spec.NodeName, kind.None), cmp.Or(p.Status.NominatedNodeName, kind.None),
		readinessGates(p),
	}, podRowConditions(p.Status.Phase)
}

// podRowConditions tell clients that a pod is through, whatever the cells say.
func podRowConditions(phase corev1.PodPhase) []metav1.TableRowCondition {
	completed := metav1.TableRowCondition{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(phase)}
	switch phase {
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

// restarts counts restarts and knows the latest.
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

func (r *restarts) cell() string {
	if r.count == 0 || r.last.IsZero() {
		return strconv.Itoa(r.count)
	}
	return fmt.Sprintf("%d (%s ago)", r.count, kind.Age(r.last))
}
