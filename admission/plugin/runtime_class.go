package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

var errOverheadDiffers = errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")

// RuntimeClass sets the overhead and the scheduling constraints of the runtime class of a pod. The
// step reads the resource "runtimeclasses" of the catalog.
func RuntimeClass() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "RuntimeClass", Admit: applyRuntimeClass, Validate: checkOverhead}
}

func applyRuntimeClass(ctx context.Context, a *registry.Attributes) error {
	pod, ok := created[*corev1.Pod](a)
	if !ok {
		return nil
	}
	class, err := runtimeClass(ctx, a, pod)
	if err != nil {
		return err
	}
	if class.Overhead != nil {
		if len(pod.Spec.Overhead) > 0 && !sameOverhead(class, pod) {
			return forbidden(a, errOverheadDiffers)
		}
		pod.Spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	}
	if class.Scheduling != nil {
		return setScheduling(a, &pod.Spec, class.Scheduling.DeepCopy())
	}
	return nil
}

// checkOverhead rejects an overhead that differs from the overhead of the runtime class.
func checkOverhead(ctx context.Context, a *registry.Attributes) error {
	pod, ok := created[*corev1.Pod](a)
	if !ok {
		return nil
	}
	class, err := runtimeClass(ctx, a, pod)
	switch {
	case err != nil:
		return err
	case class.Overhead == nil && pod.Spec.Overhead != nil:
		return forbidden(a, errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
	case class.Overhead != nil && !sameOverhead(class, pod):
		return forbidden(a, errOverheadDiffers)
	}
	return nil
}

// runtimeClass returns the class of a pod, or an empty class if the pod has none.
func runtimeClass(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) (*nodev1.RuntimeClass, error) {
	if pod.Spec.RuntimeClassName == nil {
		return &nodev1.RuntimeClass{}, nil
	}
	name := *pod.Spec.RuntimeClassName
	if store, ok := a.Catalog.Store(nodev1.Resource("runtimeclasses")); ok {
		class, err := getObject[*nodev1.RuntimeClass](ctx, store, "", name)
		if !apierrors.IsNotFound(err) {
			return class, err
		}
	}
	return nil, forbidden(a, fmt.Errorf("pod rejected: RuntimeClass %q not found", name))
}

func sameOverhead(class *nodev1.RuntimeClass, pod *corev1.Pod) bool {
	return equality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead)
}

// setScheduling adds the node selector and the tolerations of the class to a pod.
func setScheduling(a *registry.Attributes, spec *corev1.PodSpec, class *nodev1.Scheduling) error {
	for _, key := range slices.Sorted(maps.Keys(class.NodeSelector)) {
		value := class.NodeSelector[key]
		if own, ok := spec.NodeSelector[key]; ok && own != value {
			return forbidden(a, fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, own))
		}
	}
	if spec.NodeSelector == nil {
		spec.NodeSelector = make(map[string]string, len(class.NodeSelector))
	}
	maps.Copy(spec.NodeSelector, class.NodeSelector)
	spec.Tolerations = mergeTolerations(slices.Concat(spec.Tolerations, class.Tolerations))
	return nil
}
