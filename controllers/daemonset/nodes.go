package daemonset

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/pods"
)

// target is a node, with the pods of the set that are on it or that are to be bound to it, the
// oldest first.
type target struct {
	name string
	pods []*corev1.Pod
	// runs is set if the node should have a pod, and keeps if it may keep one.
	runs, keeps bool
}

// readTargets assigns the pods to the nodes. Pods that have ended and are being deleted do not
// count.
func (r *rollout) readTargets(ctx context.Context) error {
	nodes, err := r.nodes.List(ctx, "", nil)
	if err != nil {
		return err
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	targets := map[string]*target{}
	for _, node := range nodes {
		t := &target{name: node.Name}
		t.runs, t.keeps = r.fits(node)
		targets[node.Name] = t
		r.targets = append(r.targets, t)
	}
	for _, pod := range r.existing {
		t, ok := targets[nodeName(pod)]
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		switch {
		case ended && pod.DeletionTimestamp != nil:
		case ok:
			t.pods = append(t.pods, pod)
		case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
			r.lost = append(r.lost, pod)
		}
	}
	return nil
}

// fits reports whether a node should have a pod, and whether it may keep one: a taint NoSchedule
// keeps new pods away only.
func (r *rollout) fits(node *corev1.Node) (runs, keeps bool) {
	spec := &r.set.Spec.Template.Spec
	if spec.NodeName != "" && spec.NodeName != node.Name || !pods.SelectsNode(spec, node) {
		return false, false
	}
	tolerations := withTolerations(spec)
	_, evicted := pods.UntoleratedTaint(tolerations, node.Spec.Taints, corev1.TaintEffectNoExecute)
	_, refused := pods.UntoleratedTaint(tolerations, node.Spec.Taints, corev1.TaintEffectNoSchedule)
	return !evicted && !refused, !evicted
}

// nodeName returns the node of a pod, or the node that its affinity selects.
func nodeName(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil ||
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return pod.Spec.NodeName
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// newPod returns a pod for a node. A scheduler binds it, because of its affinity, to that node.
func (r *rollout) newPod(node string) *corev1.Pod {
	pod := pods.FromTemplate(&r.set.Spec.Template, r.owner)
	pod.Spec.Tolerations = withTolerations(&pod.Spec)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, hashLabel, r.hash)
	if generation := r.set.Annotations[appsv1.DeprecatedTemplateGeneration]; generation != "" {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, generationLabel, generation)
	}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
		}}}},
	}
	return pod
}

// withTolerations returns the tolerations of a pod and the tolerations of all pods of DaemonSets.
func withTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	tolerations := slices.Clone(spec.Tolerations)
	add := func(key string, effect corev1.TaintEffect) {
		toleration := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		if !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return t.MatchToleration(&toleration) }) {
			tolerations = append(tolerations, toleration)
		}
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return tolerations
}
