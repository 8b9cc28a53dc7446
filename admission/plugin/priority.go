package plugin

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// Priority resolves the priority class of pods, and rejects a second default class. The step reads
// the resource "priorityclasses" of the catalog. The two system classes need not be stored.
func Priority() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "Priority", Admit: resolvePriority, Validate: checkDefaultPriority}
}

func resolvePriority(ctx context.Context, a *registry.Attributes) error {
	if pod, old, ok := updated[*corev1.Pod](a); ok && old != nil {
		keepPriority(&pod.Spec, &old.Spec)
		return nil
	}
	pod, ok := created[*corev1.Pod](a)
	if !ok {
		return nil
	}
	class, err := priorityClass(ctx, a, pod.Spec.PriorityClassName)
	if err != nil {
		return err
	}
	return setPriority(a, &pod.Spec, class)
}

// keepPriority restores the fields that older clients drop from an update.
func keepPriority(spec, old *corev1.PodSpec) {
	if spec.Priority == nil {
		spec.Priority = old.Priority
	}
	if spec.PreemptionPolicy == nil {
		spec.PreemptionPolicy = old.PreemptionPolicy
	}
}

// priorityClass returns the class with a name. For the name "" it returns the default class, or a
// class with value 0 if there is no default.
func priorityClass(ctx context.Context, a *registry.Attributes, name string) (*schedulingv1.PriorityClass, error) {
	if name == "" {
		class, err := defaultPriority(ctx, a)
		if class == nil {
			class = &schedulingv1.PriorityClass{PreemptionPolicy: new(corev1.PreemptLowerPriority)}
		}
		return class, err
	}
	var class *schedulingv1.PriorityClass
	err := error(apierrors.NewNotFound(schedulingv1.Resource("priorityclasses"), name))
	if store, ok := a.Catalog.Store(schedulingv1.Resource("priorityclasses")); ok {
		class, err = getObject[*schedulingv1.PriorityClass](ctx, store, "", name)
	}
	if !apierrors.IsNotFound(err) {
		return class, err
	}
	if value, ok := systemPriority(name); ok {
		class = &schedulingv1.PriorityClass{Value: value, PreemptionPolicy: new(corev1.PreemptLowerPriority)}
		class.Name = name
		return class, nil
	}
	return nil, forbidden(a, fmt.Errorf("no PriorityClass with name %s was found", name))
}

func systemPriority(name string) (int32, bool) {
	switch name {
	case "system-node-critical":
		return 2000001000, true
	case "system-cluster-critical":
		return 2000000000, true
	}
	return 0, false
}

// defaultPriority returns the default class, nil if there is none. If a race has created several,
// it returns the one with the lowest value.
func defaultPriority(ctx context.Context, a *registry.Attributes) (*schedulingv1.PriorityClass, error) {
	classes, err := listObjects[*schedulingv1.PriorityClass](ctx, a, schedulingv1.Resource("priorityclasses"), "")
	if err != nil {
		return nil, err
	}
	var lowest *schedulingv1.PriorityClass
	for _, class := range classes {
		if class.GlobalDefault && (lowest == nil || class.Value < lowest.Value) {
			lowest = class
		}
	}
	return lowest, nil
}

// setPriority sets the priority and preemption policy of the class. It rejects a pod with other
// values.
func setPriority(a *registry.Attributes, spec *corev1.PodSpec, class *schedulingv1.PriorityClass) error {
	const text = "the %s (%v) must not be provided in pod spec; priority admission controller computed %v from the given PriorityClass name"
	if spec.Priority != nil && *spec.Priority != class.Value {
		return forbidden(a, fmt.Errorf(text, "integer value of priority", *spec.Priority, class.Value))
	}
	spec.PriorityClassName, spec.Priority = class.Name, new(class.Value)
	if class.PreemptionPolicy == nil {
		return nil
	}
	if spec.PreemptionPolicy != nil && *spec.PreemptionPolicy != *class.PreemptionPolicy {
		return forbidden(a, fmt.Errorf(text, "string value of PreemptionPolicy", *spec.PreemptionPolicy, *class.PreemptionPolicy))
	}
	spec.PreemptionPolicy = new(*class.PreemptionPolicy)
	return nil
}

func checkDefaultPriority(ctx context.Context, a *registry.Attributes) error {
	class, ok := written[*schedulingv1.PriorityClass](a)
	if !ok || !class.GlobalDefault {
		return nil
	}
	current, err := defaultPriority(ctx, a)
	if err != nil || current == nil || a.Operation == registry.OperationUpdate && current.Name == class.Name {
		return err
	}
	return forbidden(a, fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", current.Name))
}
