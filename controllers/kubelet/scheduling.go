package kubelet

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

// scheduler binds pods to nodes.
type scheduler struct {
	config reconcile.Config
	pods   reconcile.Objects[*corev1.Pod]
	nodes  reconcile.Objects[*corev1.Node]
}

func newScheduler(config reconcile.Config) scheduler {
	return scheduler{config: config, pods: podObjects(config, schedulerManager), nodes: nodeObjects(config)}
}

// schedule binds a pod to the feasible node with the fewest pods. Pods that are being deleted, have
// scheduling gates or name another scheduler stay as they are.
func (s scheduler) schedule(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || pod.Spec.SchedulerName != corev1.DefaultSchedulerName {
		return nil
	}
	ctx = asScheduler(ctx)
	all, err := s.nodes.List(ctx, "", nil)
	if err != nil || len(all) == 0 { // the registration of a node schedules the pod again
		return err
	}
	feasible := slices.DeleteFunc(slices.Clone(all), func(node *corev1.Node) bool { return !isFeasible(&pod.Spec, node) })
	if len(feasible) == 0 {
		return s.reportUnschedulable(ctx, pod, len(all))
	}
	node, err := s.leastUsed(ctx, feasible)
	if err != nil {
		return err
	}
	return s.bind(ctx, pod, node)
}

// isFeasible reports whether a pod can run on a node. Resources are not compared.
func isFeasible(spec *corev1.PodSpec, node *corev1.Node) bool {
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(slices.Clone(taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	_, tainted := pods.UntoleratedTaint(spec.Tolerations, taints, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
	return !tainted && isReady(node) && pods.SelectsNode(spec, node)
}

func (s scheduler) leastUsed(ctx context.Context, nodes []*corev1.Node) (*corev1.Node, error) {
	if len(nodes) == 1 {
		return nodes[0], nil
	}
	all, err := s.pods.List(ctx, "", nil)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, pod := range all {
		count[pod.Spec.NodeName]++
	}
	return slices.MinFunc(nodes, func(a, b *corev1.Node) int { return count[a.Name] - count[b.Name] }), nil
}

func (s scheduler) bind(ctx context.Context, pod *corev1.Pod, node *corev1.Node) error {
	store, err := registry.Require(s.config.Catalog, s.pods.Resource)
	if err != nil {
		return err
	}
	_, err = store.CreateSubresource(ctx, "binding", registry.CreateRequest{
		Namespace: pod.Namespace, Name: pod.Name,
		Object: &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node.Name},
		},
		Options: registry.WriteOptions{FieldManager: schedulerManager, Sent: &metav1.CreateOptions{}},
	})
	return reconcile.IgnoreGone(err)
}

func (s scheduler) reportUnschedulable(ctx context.Context, pod *corev1.Pod, nodes int) error {
	_, err := s.pods.UpdateStatus(ctx, pod, func(pod *corev1.Pod) {
		setCondition(pod, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: fmt.Sprintf("0/%d nodes are available: no node is ready, tolerated and selected by the pod.", nodes),
		}, metav1.NewTime(registry.Now(ctx)))
	})
	return err
}
