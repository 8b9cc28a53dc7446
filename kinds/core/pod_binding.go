package core

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

func podBinding() registry.Subresource {
	return registry.Subresource{
		Name:   "binding",
		Verbs:  []string{"create"},
		Kind:   schema.GroupVersionKind{Kind: "Binding"},
		New:    func() runtime.Object { return &corev1.Binding{} },
		Create: bindPod,
		Update: &registry.UpdateStrategy{},
	}
}

// bindings returns the resource that old schedulers write. A binding has the name of its pod.
func bindings(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.Binding]{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Binding{},
		Resource:     "bindings",
		Namespaced:   true,
		Verbs:        []string{"create"},
	}.BuildVirtual(features, registry.Virtual{
		Create: func(ctx context.Context, catalog *registry.Catalog, req registry.ActionRequest) (runtime.Object, error) {
			pods, err := registry.Require(catalog, corev1.Resource("pods"))
			if err != nil {
				return nil, err
			}
			req.Name = req.Object.(*corev1.Binding).Name
			return bindPod(ctx, pods, req)
		},
	})
}

// bindPod assigns a pod to the node that a scheduler chose.
func bindPod(ctx context.Context, store *registry.Store, req registry.ActionRequest) (runtime.Object, error) {
	binding, ok := req.Object.(*corev1.Binding)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding object: %#v", req.Object))
	}
	if binding.Name != req.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(binding); len(errs) > 0 {
		// A plain error, and so a 500, as kube-apiserver answers.
		return nil, errs.ToAggregate()
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	_, err := store.Update(ctx, registry.UpdateRequest{
		Namespace:   req.Namespace,
		Name:        req.Name,
		Subresource: "binding",
		Options:     req.Options,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return assign(ctx, current.(*corev1.Pod), binding)
		},
	})
	if err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}

func validateBinding(b *corev1.Binding) field.ErrorList {
	var errs field.ErrorList
	target := field.NewPath("target")
	if b.Target.Kind != "" && b.Target.Kind != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), b.Target.Kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		return append(errs, field.Required(target.Child("name"), ""))
	}
	for _, message := range validation.NameIsDNSSubdomain(b.Target.Name, false) {
		errs = append(errs, field.Invalid(target.Child("name"), b.Target.Name, message))
	}
	return errs
}

// assign returns a bound copy of the pod.
func assign(ctx context.Context, current *corev1.Pod, b *corev1.Binding) (*corev1.Pod, error) {
	if err := checkBindable(current, b); err != nil {
		return nil, err
	}
	pod := current.DeepCopy()
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = ""
	if pod.Annotations == nil && len(b.Annotations) > 0 {
		pod.Annotations = make(map[string]string, len(b.Annotations))
	}
	maps.Copy(pod.Annotations, b.Annotations)
	if pod.Labels == nil && len(b.Labels) > 0 {
		pod.Labels = make(map[string]string, len(b.Labels))
	}
	maps.Copy(pod.Labels, b.Labels)
	setPodCondition(ctx, pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return pod, nil
}

func checkBindable(p *corev1.Pod, b *corev1.Binding) error {
	preconditions := storage.Preconditions{}
	if b.UID != "" {
		preconditions.UID = &b.UID
	}
	if b.ResourceVersion != "" {
		preconditions.ResourceVersion = &b.ResourceVersion
	}
	var reason error
	switch {
	case preconditions.UID != nil && *preconditions.UID != p.UID:
		return fmt.Errorf("%w: UID in precondition: %v, UID in object meta: %v", storage.ErrPrecondition, b.UID, p.UID)
	case preconditions.ResourceVersion != nil && *preconditions.ResourceVersion != p.ResourceVersion:
		return fmt.Errorf("%w: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", storage.ErrPrecondition, b.ResourceVersion, p.ResourceVersion)
	case p.DeletionTimestamp != nil:
		reason = fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", p.Name)
	case p.Spec.NodeName != "":
		reason = fmt.Errorf("pod %v is already assigned to node %q", p.Name, p.Spec.NodeName)
	case len(p.Spec.SchedulingGates) > 0:
		reason = fmt.Errorf("pod %v has non-empty .spec.schedulingGates", p.Name)
	default:
		return nil
	}
	return apierrors.NewConflict(corev1.Resource("pods/binding"), p.Name, reason)
}

// setPodCondition replaces the condition of the same type, or adds it.
func setPodCondition(ctx context.Context, p *corev1.Pod, c corev1.PodCondition) {
	c.LastTransitionTime = metav1.NewTime(registry.Now(ctx))
	old := podCondition(p, c.Type)
	if old == nil {
		p.Status.Conditions = append(p.Status.Conditions, c)
		return
	}
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}
