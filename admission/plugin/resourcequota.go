package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// ResourceQuota charges what a write uses up to the quotas of its namespace, and
// refuses it where that is more than is left. It goes by the status of a quota:
// one whose status.hard nobody has filled in limits nothing. A write that does
// not happen is given back. It needs a resource "resourcequotas" in the same
// catalog.
func ResourceQuota() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ResourceQuota", Validate: chargeQuotas}
}

func chargeQuotas(ctx context.Context, a *registry.Attributes) error {
	store, ok := a.Store.Sibling(corev1.Resource("resourcequotas"))
	resource := a.Store.Resource().GroupResource()
	if !ok || a.Namespace == "" || resource == namespaces() {
		return nil
	}
	c := charge{store: store, write: a, meter: meterOf(resource)}
	if !c.meter.measures(a.Operation, a.Subresource) {
		return nil
	}
	quotas, err := all[*corev1.ResourceQuota](ctx, a, corev1.Resource("resourcequotas"), a.Namespace)
	if err != nil {
		return err
	}
	for _, quota := range quotas {
		// What is at hand may tell that there is nothing to charge.
		if due, err := c.due(quota); err == nil && len(due) == 0 {
			continue
		}
		if err := c.to(ctx, quota.Name); err != nil {
			return err
		}
	}
	return nil
}

// charge is what one write owes.
type charge struct {
	store *registry.Store // of the quotas
	write *registry.Attributes
	meter meter
}

// to charges a quota in its latest state.
func (c charge) to(ctx context.Context, name string) error {
	var due corev1.ResourceList
	err := c.update(ctx, name, c.write.Options.DryRun, func(quota *corev1.ResourceQuota) error {
		var err error
		if due, err = c.due(quota); err == nil {
			quota.Status.Used = sum(quota.Status.Used, due)
		}
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil // it is gone, and limits nothing
	}
	if len(due) > 0 && !c.write.Options.DryRun {
		refund := registry.Once(func(ctx context.Context) error { return c.refund(ctx, name, due) })
		c.write.Enlist(registry.Transaction{Rollback: func(ctx context.Context) error {
			charged, err := registry.Written(ctx, err)
			if err != nil || !charged {
				return err
			}
			return refund(ctx)
		}})
	}
	return err
}

func (c charge) refund(ctx context.Context, name string, due corev1.ResourceList) error {
	err := c.update(ctx, name, false, func(quota *corev1.ResourceQuota) error {
		quota.Status.Used = difference(quota.Status.Used, due)
		return nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c charge) update(ctx context.Context, name string, dry bool, change func(*corev1.ResourceQuota) error) error {
	_, err := c.store.Update(ctx, registry.UpdateRequest{
		Namespace: c.write.Namespace, Name: name, Subresource: "status",
		Options: registry.WriteOptions{DryRun: dry},
		Receipt: true, // several writes may charge the same at the same time
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			quota := current.DeepCopyObject().(*corev1.ResourceQuota)
			return quota, change(quota)
		},
	})
	return err
}

// due returns what a quota is to be charged, or why it does not allow that.
func (c charge) due(quota *corev1.ResourceQuota) (corev1.ResourceList, error) {
	obj, hard := c.write.Object, quota.Status.Hard
	if !c.meter.concerns(quota, obj) {
		return nil, nil
	}
	counted := slices.DeleteFunc(slices.Sorted(maps.Keys(hard)), func(n corev1.ResourceName) bool { return !c.meter.counts(n) })
	if c.meter.demand != nil {
		if err := c.meter.demand(counted, obj); err != nil {
			return nil, forbidden(c.write, fmt.Errorf("failed quota: %s: %w", quota.Name, err))
		}
	}
	for _, name := range counted {
		if _, known := quota.Status.Used[name]; !known {
			return nil, forbidden(c.write, fmt.Errorf("status unknown for quota: %s, resources: %s", quota.Name, joinNames(counted)))
		}
	}
	usage, err := c.usage(quota)
	if err != nil {
		return nil, err
	}
	due := corev1.ResourceList{}
	for name, quantity := range usage {
		if _, limited := hard[name]; limited && !quantity.IsZero() {
			due[name] = quantity
		}
	}
	return due, c.exceeds(quota, due)
}

// usage is what the object uses more than what it took the place of.
func (c charge) usage(quota *corev1.ResourceQuota) (corev1.ResourceList, error) {
	usage := c.meter.usage(c.write.Object)
	var negative []corev1.ResourceName
	for name, quantity := range usage {
		if quantity.Sign() < 0 {
			negative = append(negative, name)
		}
	}
	if len(negative) > 0 {
		slices.Sort(negative)
		return nil, forbidden(c.write, fmt.Errorf("quota usage is negative for resource(s): %s", joinNames(negative)))
	}
	if old := c.write.OldObject; old != nil && c.meter.concerns(quota, old) {
		usage = difference(usage, c.meter.usage(old))
	}
	return usage, nil
}

func (c charge) exceeds(quota *corev1.ResourceQuota, due corev1.ResourceList) error {
	status := quota.Status
	var exceeded []corev1.ResourceName
	for name, quantity := range sum(due, status.Used) {
		limit := status.Hard[name]
		if _, asked := due[name]; asked && quantity.Cmp(limit) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if len(exceeded) == 0 {
		return nil
	}
	slices.Sort(exceeded)
	return forbidden(c.write, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", quota.Name,
		joinQuantities(exceeded, due), joinQuantities(exceeded, status.Used), joinQuantities(exceeded, status.Hard)))
}

func joinNames(names []corev1.ResourceName) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return strings.Join(words, ",")
}

func joinQuantities(names []corev1.ResourceName, list corev1.ResourceList) string {
	words := make([]string, len(names))
	for i, name := range names {
		quantity := list[name]
		words[i] = string(name) + "=" + quantity.String()
	}
	return strings.Join(words, ",")
}

// sum returns a new list.
func sum(a, b corev1.ResourceList) corev1.ResourceList {
	total := corev1.ResourceList{}
	addResources(total, a)
	addResources(total, b)
	return total
}

// difference returns a new list with what a has and b has not, nothing below zero.
func difference(a, b corev1.ResourceList) corev1.ResourceList {
	rest := corev1.ResourceList{}
	for name, quantity := range a {
		left := quantity.DeepCopy()
		left.Sub(b[name])
		if left.Sign() < 0 {
			left.Set(0)
		}
		rest[name] = left
	}
	return rest
}
