package plugin

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// PodResizeValidator lets the resources of a pod change as far as its node has
// them, which has to run Linux. It needs a resource "nodes" in the same catalog.
func PodResizeValidator() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PodResizeValidator", Validate: checkPodResize}
}

func checkPodResize(ctx context.Context, a *registry.Attributes) error {
	pod, old, ok := updatedBy[*corev1.Pod](a, "resize")
	if !ok || pod.Spec.NodeName == "" || pod.Generation == old.Generation {
		return nil
	}
	node, err := nodeOf(ctx, a, pod)
	if err != nil {
		return err
	}
	if system, ok := node.Labels[corev1.LabelOSStable]; ok && system != "linux" {
		return resizeRefused(a, "UnsupportedPlatform", fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", node.Name, system))
	}
	if lacks := lackingOn(node, pod); len(lacks) > 0 {
		return resizeRefused(a, "NodeCapacity", fmt.Errorf("node didn't have enough allocatable resources: %s", strings.Join(lacks, "; ")))
	}
	return nil
}

// nodeOf returns the node of a pod, which has to be there.
func nodeOf(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) (*corev1.Node, error) {
	store, err := a.Store.Require(corev1.Resource("nodes"))
	if err != nil {
		return nil, err
	}
	node, err := find[*corev1.Node](ctx, store, "", pod.Spec.NodeName)
	if apierrors.IsNotFound(err) {
		return nil, forbidden(a, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	}
	return node, err
}

// lackingOn says what a pod asks for and a node does not have.
func lackingOn(node *corev1.Node, pod *corev1.Pod) []string {
	requests := podResources(&pod.Spec, requestsOf)
	addResources(requests, pod.Spec.Overhead)
	cpu, memory := requests.Cpu(), requests.Memory()
	var lacks []string
	if has := node.Status.Allocatable.Cpu(); cpu.Cmp(*has) > 0 {
		lacks = append(lacks, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(), has.MilliValue()))
	}
	if has := node.Status.Allocatable.Memory(); memory.Cmp(*has) > 0 {
		lacks = append(lacks, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(), has.Value()))
	}
	return lacks
}

func resizeRefused(a *registry.Attributes, cause metav1.CauseType, reason error) error {
	err := forbidden(a, reason)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
	return err
}
