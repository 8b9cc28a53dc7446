package plugin

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/registry"
)

// PodResizeValidator rejects a resize of a bound pod beyond the allocatable resources of its node,
// or on a node that does not run Linux. The step reads the resource "nodes" of the catalog.
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
		return resizeForbidden(a, "UnsupportedPlatform", fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", node.Name, system))
	}
	if missing := missingResources(node, pod); len(missing) > 0 {
		return resizeForbidden(a, "NodeCapacity", fmt.Errorf("node didn't have enough allocatable resources: %s", strings.Join(missing, "; ")))
	}
	return nil
}

// nodeOf returns the node of a pod, or a 403 if it does not exist.
func nodeOf(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) (*corev1.Node, error) {
	store, err := registry.Require(a.Catalog, corev1.Resource("nodes"))
	if err != nil {
		return nil, err
	}
	node, err := getObject[*corev1.Node](ctx, store, "", pod.Spec.NodeName)
	if apierrors.IsNotFound(err) {
		return nil, forbidden(a, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	}
	return node, err
}

// missingResources describes the requests of a pod that exceed the allocatable resources of a node.
func missingResources(node *corev1.Node, pod *corev1.Pod) []string {
	requests := resourcelist.OfPod(&pod.Spec, resourcelist.Requests)
	resourcelist.Add(requests, pod.Spec.Overhead)
	cpu, memory := requests.Cpu(), requests.Memory()
	var missing []string
	if allocatable := node.Status.Allocatable.Cpu(); cpu.Cmp(*allocatable) > 0 {
		missing = append(missing, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(), allocatable.MilliValue()))
	}
	if allocatable := node.Status.Allocatable.Memory(); memory.Cmp(*allocatable) > 0 {
		missing = append(missing, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(), allocatable.Value()))
	}
	return missing
}

func resizeForbidden(a *registry.Attributes, cause metav1.CauseType, reason error) error {
	err := forbidden(a, reason)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
	return err
}
