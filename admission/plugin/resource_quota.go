package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"

	"github.com/miniapi/miniapi/internal/quota"
	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/registry"
)

// ResourceQuota adds the usage of a write to the status of the quotas of its namespace, and rejects
// the write if it exceeds one of them. It enforces status.hard: a quota without it limits nothing.
// If the write fails later, its usage is subtracted again. Usage and scopes that are limited are
// rejected unless a quota covers them. The step reads and updates the resource "resourcequotas" of
// the catalog.
func ResourceQuota(limits []resourcequota.LimitedResource) registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ResourceQuota", Validate: func(ctx context.Context, a *registry.Attributes) error {
		return chargeQuotas(ctx, a, limits)
	}}
}

func chargeQuotas(ctx context.Context, a *registry.Attributes, limits []resourcequota.LimitedResource) error {
	store, ok := a.Catalog.Store(corev1.Resource("resourcequotas"))
	resource := a.Resource.GroupResource()
	if !ok || a.Namespace == "" || resource == namespaces() {
		return nil
	}
	c := charge{quotas: store, attributes: a, evaluator: quota.EvaluatorOf(resource)}
	if !c.evaluator.Handles(a) {
		return nil
	}
	quotas, err := listObjects[*corev1.ResourceQuota](ctx, a, corev1.Resource("resourcequotas"), a.Namespace)
	if err != nil {
		return err
	}
	if err := c.checkCovered(quotas, limits); err != nil {
		return err
	}
	for _, quota := range quotas {
		// Skip the transaction if there is nothing to charge according to the watch cache.
		if delta, err := c.delta(quota); err == nil && len(delta) == 0 {
			continue
		}
		if err := c.add(ctx, quota.Name); err != nil {
			return err
		}
	}
	return nil
}

// charge adds the usage of one write to quotas.
type charge struct {
	quotas     registry.Interface
	attributes *registry.Attributes
	evaluator  quota.Evaluator
}

// add adds the usage to the latest state of a quota, and enlists the refund.
func (c charge) add(ctx context.Context, name string) error {
	var delta corev1.ResourceList
	err := c.update(ctx, name, c.attributes.Options.DryRun, func(quota *corev1.ResourceQuota) error {
		var err error
		if delta, err = c.delta(quota); err == nil {
			quota.Status.Used = sum(quota.Status.Used, delta)
		}
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil // a deleted quota limits nothing
	}
	if len(delta) > 0 && !c.attributes.Options.DryRun {
		refund := registry.Once(func(ctx context.Context) error { return c.refund(ctx, name, delta) })
		c.attributes.Enlist(registry.Transaction{Rollback: func(ctx context.Context) error {
			charged, err := registry.Written(ctx, err)
			if err != nil || !charged {
				return err
			}
			return refund(ctx)
		}})
	}
	return err
}

// refund subtracts the usage of a write that failed.
func (c charge) refund(ctx context.Context, name string, delta corev1.ResourceList) error {
	err := c.update(ctx, name, false, func(quota *corev1.ResourceQuota) error {
		quota.Status.Used = difference(quota.Status.Used, delta)
		return nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c charge) update(ctx context.Context, name string, dry bool, change func(*corev1.ResourceQuota) error) error {
	_, err := c.quotas.Update(ctx, registry.UpdateRequest{
		Namespace: c.attributes.Namespace, Name: name, Subresource: "status",
		Options: registry.WriteOptions{DryRun: dry},
		Receipt: true, // concurrent writes can charge the same amount
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			quota := current.DeepCopyObject().(*corev1.ResourceQuota)
			return quota, change(quota)
		},
	})
	return err
}

// delta returns the usage to add to a quota, or an error if the quota does not allow it.
func (c charge) delta(quota *corev1.ResourceQuota) (corev1.ResourceList, error) {
	counted, err := c.counted(quota)
	if err != nil || len(counted) == 0 {
		return nil, err
	}
	usage, err := c.usage(c.previous(quota))
	if err != nil {
		return nil, err
	}
	hard := quota.Status.Hard
	delta := corev1.ResourceList{}
	for name, quantity := range usage {
		if _, limited := hard[name]; limited && !quantity.IsZero() {
			delta[name] = quantity
		}
	}
	if c.attributes.Subresource == "status" {
		return delta, nil // the usage exists already
	}
	return delta, c.checkExceeded(quota, delta)
}

// counted returns the names of the limits of a quota that apply to the object, and none if the
// quota does not. It is an error if the object lacks required fields, or if the quota has no
// status.
func (c charge) counted(quota *corev1.ResourceQuota) ([]corev1.ResourceName, error) {
	if !c.evaluator.Matches(quota, c.attributes.Object) {
		return nil, nil
	}
	counted := c.evaluator.Counted(quota.Status.Hard)
	if err := c.evaluator.CheckConstraints(counted, c.attributes.Object); err != nil {
		return nil, forbidden(c.attributes, fmt.Errorf("failed quota: %s: %w", quota.Name, err))
	}
	for _, name := range counted {
		if _, known := quota.Status.Used[name]; !known {
			return nil, forbidden(c.attributes, fmt.Errorf("status unknown for quota: %s, resources: %s", quota.Name, joinNames(counted)))
		}
	}
	return counted, nil
}

// previous returns the stored object, and nil if the quota does not count it.
func (c charge) previous(quota *corev1.ResourceQuota) runtime.Object {
	if old := c.attributes.OldObject; old != nil && c.evaluator.Matches(quota, old) {
		return old
	}
	return nil
}

// usage returns the usage of the new object minus the usage of the previous one, at least zero. A
// nil object has no usage.
func (c charge) usage(previous runtime.Object) (corev1.ResourceList, error) {
	now := c.attributes.Catalog.Now()
	usage := c.evaluator.Usage(c.attributes.Object, now)
	var negative []corev1.ResourceName
	for name, quantity := range usage {
		if quantity.Sign() < 0 {
			negative = append(negative, name)
		}
	}
	if len(negative) > 0 {
		slices.Sort(negative)
		return nil, forbidden(c.attributes, fmt.Errorf("quota usage is negative for resource(s): %s", joinNames(negative)))
	}
	if previous != nil {
		usage = difference(usage, c.evaluator.Usage(previous, now))
	}
	return usage, nil
}

// checkExceeded returns an error if the quota does not have delta left.
func (c charge) checkExceeded(quota *corev1.ResourceQuota, delta corev1.ResourceList) error {
	status := quota.Status
	var exceeded []corev1.ResourceName
	for name, quantity := range sum(delta, status.Used) {
		limit := status.Hard[name]
		if _, requested := delta[name]; requested && quantity.Cmp(limit) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if len(exceeded) == 0 {
		return nil
	}
	slices.Sort(exceeded)
	return forbidden(c.attributes, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", quota.Name,
		joinQuantities(exceeded, delta), joinQuantities(exceeded, status.Used), joinQuantities(exceeded, status.Hard)))
}

func joinNames(names []corev1.ResourceName) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = string(name)
	}
	return strings.Join(parts, ",")
}

func joinQuantities(names []corev1.ResourceName, list corev1.ResourceList) string {
	parts := make([]string, len(names))
	for i, name := range names {
		quantity := list[name]
		parts[i] = string(name) + "=" + quantity.String()
	}
	return strings.Join(parts, ",")
}

// sum returns a + b as a new list.
func sum(a, b corev1.ResourceList) corev1.ResourceList {
	total := corev1.ResourceList{}
	resourcelist.Add(total, a)
	resourcelist.Add(total, b)
	return total
}

// difference returns a - b as a new list of the names in a. Negative quantities become zero.
func difference(a, b corev1.ResourceList) corev1.ResourceList {
	result := corev1.ResourceList{}
	for name, quantity := range a {
		left := quantity.DeepCopy()
		left.Sub(b[name])
		if left.Sign() < 0 {
			left.Set(0)
		}
		result[name] = left
	}
	return result
}
