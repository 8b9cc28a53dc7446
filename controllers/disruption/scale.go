package disruption

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/registry"
)

// scaleOf returns the sum of the replicas of the controllers of pods. Pods without a controller do
// not count.
func (c *controller) scaleOf(ctx context.Context, selected []*corev1.Pod) (int32, error) {
	var sum int32
	owners, controllers := map[types.UID]bool{}, map[types.UID]bool{}
	for _, pod := range selected {
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil || owners[ref.UID] {
			continue
		}
		owners[ref.UID] = true
		ref, err := c.deploymentOf(ctx, pod.Namespace, ref)
		if err != nil {
			return 0, err
		}
		if controllers[ref.UID] {
			continue
		}
		controllers[ref.UID] = true
		replicas, err := c.replicasOf(ctx, pod.Namespace, ref)
		if err != nil {
			return 0, fmt.Errorf("found no controllers for pod %q: %w", pod.Name, err)
		}
		sum += replicas
	}
	return sum, nil
}

// deploymentOf returns the Deployment of a ReplicaSet, or else the controller itself.
func (c *controller) deploymentOf(ctx context.Context, namespace string, ref *metav1.OwnerReference) (*metav1.OwnerReference, error) {
	if ref.Kind != "ReplicaSet" {
		return ref, nil
	}
	store, err := registry.Require(c.catalog, appsv1.Resource("replicasets"))
	if err != nil {
		return nil, err
	}
	set, err := registry.Read[*appsv1.ReplicaSet](ctx, store, namespace, ref.Name, "")
	if err != nil {
		return nil, err
	}
	if owner := metav1.GetControllerOfNoCopy(set); owner != nil && owner.Kind == "Deployment" {
		return owner, nil
	}
	return ref, nil
}

// replicasOf returns spec.replicas of the scale of a controller of any kind.
func (c *controller) replicasOf(ctx context.Context, namespace string, ref *metav1.OwnerReference) (int32, error) {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	served, _, ok := c.catalog.Snapshot().OfKind(kind)
	if !ok {
		return 0, fmt.Errorf("%s is not served", kind)
	}
	entry, err := served.GetSubresource(ctx, namespace, ref.Name, "scale")
	if err != nil {
		return 0, err
	}
	scale, err := registry.As[*autoscalingv1.Scale](entry)
	if err != nil {
		return 0, err
	}
	if scale.UID != ref.UID {
		return 0, fmt.Errorf("%s %s has been replaced", ref.Kind, ref.Name)
	}
	return scale.Spec.Replicas, nil
}
