package core

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry"
)

// evictionAttempts is the number of attempts of an eviction whose pod changes concurrently.
const evictionAttempts = 20

func podEviction() registry.Subresource {
	return registry.Subresource{
		Name:   "eviction",
		Verbs:  []string{"create"},
		Kind:   policyv1.SchemeGroupVersion.WithKind("Eviction"),
		New:    func() runtime.Object { return &policyv1.Eviction{} },
		Create: evictPod,
		Update: &registry.UpdateStrategy{},
		// Older clients send v1beta1.
		MoreVersions: []schema.GroupVersion{{Group: policyv1.GroupName, Version: "v1beta1"}},
	}
}

// evictPod deletes a pod if its disruption budget allows that.
func evictPod(ctx context.Context, store *registry.Store, req registry.ActionRequest) (runtime.Object, error) {
	e, err := newEviction(store, req.CreateRequest)
	if err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	for range evictionAttempts {
		err = e.attempt(ctx)
		if !apierrors.IsConflict(err) || e.pinned() {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}

// eviction is one call of evictPod.
type eviction struct {
	pods            *registry.Store
	namespace, name string
	write           registry.WriteOptions
	// options are the client's.
	options *metav1.DeleteOptions
	// spent is set once a budget has been charged, which happens once.
	spent bool
}

func newEviction(store *registry.Store, req registry.CreateRequest) (*eviction, error) {
	body, ok := req.Object.(*policyv1.Eviction)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Eviction object: %T", req.Object))
	}
	if body.Name != req.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	options, err := evictionOptions(body, req.Options.DryRun)
	if err != nil {
		return nil, err
	}
	e := &eviction{pods: store, namespace: req.Namespace, name: req.Name, write: req.Options, options: options}
	e.write.DryRun = len(options.DryRun) > 0
	return e, nil
}

// evictionOptions returns the options of the deletion. A dry run of the request becomes one of the
// body, if the body has options.
func evictionOptions(body *policyv1.Eviction, dryRun bool) (*metav1.DeleteOptions, error) {
	options := body.DeleteOptions
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	if ptr.Deref(options.IgnoreStoreReadErrorWithClusterBreakingPotential, false) {
		return nil, apierrors.NewInvalid(policyv1.SchemeGroupVersion.WithKind("Eviction").GroupKind(), body.Name, field.ErrorList{
			field.Invalid(field.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"), true,
				"can not be set for pod eviction, try after removing the option"),
		})
	}
	if requested := []string{metav1.DryRunAll}; dryRun {
		if len(options.DryRun) > 0 && !slices.Equal(options.DryRun, requested) {
			// A plain error, and so a 500, as kube-apiserver answers.
			return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", requested, options.DryRun)
		}
		options.DryRun = requested
	}
	return options.DeepCopy(), nil
}

// pinned reports whether the client requires one version of the pod.
func (e *eviction) pinned() bool {
	return e.options.Preconditions != nil && e.options.Preconditions.ResourceVersion != nil
}

func (e *eviction) attempt(ctx context.Context) error {
	pod, err := registry.Read[*corev1.Pod](ctx, e.pods, e.namespace, e.name, "")
	if err != nil {
		return err
	}
	if errs := metavalidation.ValidateDeleteOptions(e.options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	if disruptsNothing(pod) {
		options := e.options
		if pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil {
			// The pod must not become ready concurrently.
			options = e.guarded(pod.ResourceVersion)
		}
		return e.remove(ctx, options)
	}
	budget, err := e.budgetOf(ctx, pod)
	if err != nil {
		return err
	}
	if budget != nil && countsAsUnhealthy(pod, budget) {
		err := e.remove(ctx, e.guarded(pod.ResourceVersion))
		if apierrors.IsConflict(err) && !e.pinned() {
			return tooManyRequests(budget.Name)
		}
		return err
	}
	if budget != nil && !e.spent {
		if err := e.spend(ctx, budget.Name); err != nil {
			return err
		}
		e.spent = true
	}
	return e.remove(ctx, e.options)
}

// disruptsNothing reports whether a pod has never run or has ended.
func disruptsNothing(p *corev1.Pod) bool {
	switch p.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return p.DeletionTimestamp != nil
}

// countsAsUnhealthy reports whether the budget does not count the pod as healthy.
func countsAsUnhealthy(p *corev1.Pod, b *policyv1.PodDisruptionBudget) bool {
	if podConditionTrue(p, corev1.PodReady) {
		return false
	}
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// guarded returns the options with a resourceVersion, unless the client set one.
func (e *eviction) guarded(version string) *metav1.DeleteOptions {
	options := e.options.DeepCopy()
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	if options.Preconditions.ResourceVersion == nil {
		options.Preconditions.ResourceVersion = &version
	}
	return options
}

// remove adds the condition of a disruption to the pod, and deletes it.
func (e *eviction) remove(ctx context.Context, options *metav1.DeleteOptions) error {
	result, err := e.pods.Update(ctx, registry.UpdateRequest{
		Namespace:   e.namespace,
		Name:        e.name,
		Subresource: "eviction",
		Options:     e.write,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return markEvicted(ctx, current.(*corev1.Pod), options.Preconditions)
		},
	})
	if err != nil {
		return err
	}
	if options.Preconditions != nil && options.Preconditions.ResourceVersion != nil {
		marked, err := registry.As[*corev1.Pod](result.Entry)
		if err != nil {
			return err
		}
		options = options.DeepCopy()
		options.Preconditions.ResourceVersion = new(marked.ResourceVersion)
	}
	_, err = e.pods.Delete(ctx, registry.DeleteRequest{Namespace: e.namespace, Name: e.name, Options: options})
	return err
}

func markEvicted(ctx context.Context, current *corev1.Pod, preconditions *metav1.Preconditions) (*corev1.Pod, error) {
	if p := preconditions; p != nil {
		// The error names the kind, as the error of a pod's deletion does.
		pods := corev1.Resource("Pod")
		if p.UID != nil && *p.UID != "" && *p.UID != current.UID {
			return nil, apierrors.NewConflict(pods, current.Name, fmt.Errorf(
				"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, current.UID))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != "" && *p.ResourceVersion != current.ResourceVersion {
			return nil, apierrors.NewConflict(pods, current.Name, fmt.Errorf(
				"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, current.ResourceVersion))
		}
	}
	pod := current.DeepCopy()
	setPodCondition(ctx, pod, corev1.PodCondition{
		Type:    corev1.DisruptionTarget,
		Status:  corev1.ConditionTrue,
		Reason:  "EvictionByEvictionAPI",
		Message: "Eviction API: evicting",
	})
	return pod, nil
}
