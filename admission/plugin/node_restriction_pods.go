package plugin

import (
	"cmp"
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry"
)

// pod allows a node to create mirror pods, and to delete, to evict and to report the pods that are
// bound to it.
func (w nodeWrite) pod(ctx context.Context) error {
	switch w.Subresource {
	case "status":
		return w.podStatus()
	case "eviction":
		return w.eviction(ctx)
	case "":
	default:
		return w.forbid("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", w.Subresource)
	}
	switch w.Operation {
	case registry.OperationCreate:
		return w.mirrorPod(ctx, w.Object.(*corev1.Pod))
	case registry.OperationDelete:
		if pod, ok := w.OldObject.(*corev1.Pod); ok && pod.Spec.NodeName != w.node {
			return w.forbid("node %q can only delete pods with spec.nodeName set to itself", w.node)
		}
		return nil
	}
	return w.forbid("unexpected operation %q, node %q can only create and delete mirror pods", w.Operation, w.node)
}

func (w nodeWrite) mirrorPod(ctx context.Context, pod *corev1.Pod) error {
	if _, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]; !ok {
		return w.forbid("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, w.node)
	}
	if pod.Spec.NodeName != w.node {
		return w.forbid("node %q can only create pods with spec.nodeName set to itself", w.node)
	}
	if err := w.ownerOfPod(ctx, pod.OwnerReferences); err != nil {
		return err
	}
	resource, err := referencedResource(pod)
	if err != nil {
		return w.forbid("error checking mirror pod for API references: %w", err)
	}
	if resource != "" {
		return w.forbid("node %q can not create pods that reference %s", w.node, resource)
	}
	return nil
}

// ownerOfPod requires that the node is the only owner.
func (w nodeWrite) ownerOfPod(ctx context.Context, owners []metav1.OwnerReference) error {
	if len(owners) > 1 {
		return w.forbid("node %q can only create pods with a single owner reference set to itself", w.node)
	}
	if len(owners) == 0 || owners[0].APIVersion != "v1" || owners[0].Kind != "Node" || owners[0].Name != w.node {
		return w.forbid("node %q can only create pods with an owner reference set to itself", w.node)
	}
	owner := owners[0]
	if !ptr.Deref(owner.Controller, false) {
		return w.forbid("node %q can only create pods with a controller owner reference set to itself", w.node)
	}
	if ptr.Deref(owner.BlockOwnerDeletion, false) {
		return w.forbid("node %q must not set blockOwnerDeletion on an owner reference", w.node)
	}
	node, err := readFor[*corev1.Node](ctx, w, corev1.Resource("nodes"), "", w.node)
	switch {
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		return w.forbid("error looking up node %s to verify uid: %v", w.node, err)
	case owner.UID != node.UID:
		return w.forbid("node %s UID mismatch: expected %s got %s", w.node, owner.UID, node.UID)
	}
	return nil
}

func (w nodeWrite) podStatus() error {
	pod, old, ok := updatedBy[*corev1.Pod](w.Attributes, "status")
	switch {
	case !ok:
		return w.forbid("unexpected operation %q", w.Operation)
	case old.Spec.NodeName != w.node:
		return w.forbid("node %q can only update pod status for pods with spec.nodeName set to itself", w.node)
	case !maps.Equal(old.Labels, pod.Labels):
		return w.forbid("node %q cannot update labels through pod status", w.node)
	case !equality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, pod.Status.ResourceClaimStatuses):
		return w.forbid("node %q cannot update resource claim statues", w.node)
	case !equality.Semantic.DeepEqual(old.Status.ExtendedResourceClaimStatus, pod.Status.ExtendedResourceClaimStatus):
		return w.forbid("node %q cannot update extended resource claim status", w.node)
	case !equality.Semantic.DeepEqual(old.Status.NodeAllocatableResourceClaimStatuses, pod.Status.NodeAllocatableResourceClaimStatuses):
		return w.forbid("node %q cannot update node allocatable resource claim statuses", w.node)
	}
	return nil
}

func (w nodeWrite) eviction(ctx context.Context) error {
	if w.Operation != registry.OperationCreate {
		return w.forbid("unexpected operation %s", w.Operation)
	}
	name := w.Name
	if eviction, ok := w.Object.(*policyv1.Eviction); ok {
		name = cmp.Or(name, eviction.Name)
	}
	if name == "" {
		return w.forbid("could not determine pod from request data")
	}
	pod, err := readFor[*corev1.Pod](ctx, w, corev1.Resource("pods"), w.Namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		return w.forbid("%w", err)
	case pod.Spec.NodeName != w.node:
		return w.forbid("node %s can only evict pods with spec.nodeName set to itself", w.node)
	}
	return nil
}
