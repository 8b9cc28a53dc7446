// Package endpointslice keeps the EndpointSlices of Services with a selector, as
// kube-controller-manager's endpointslice-controller does. endpoints.go computes the endpoints of a
// Service, slices.go distributes them.
package endpointslice

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

// managedBy is the value of the label of the slices of this controller.
const managedBy = "endpointslice-controller.k8s.io"

type controller struct {
	services reconcile.Objects[*corev1.Service]
	slices   reconcile.Objects[*discoveryv1.EndpointSlice]
	pods     reconcile.Objects[*corev1.Pod]
	nodes    reconcile.Objects[*corev1.Node]
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	c := &controller{
		services: reconcile.Objects[*corev1.Service]{Catalog: config.Catalog, Resource: corev1.Resource("services")},
		slices:   reconcile.Objects[*discoveryv1.EndpointSlice]{Catalog: config.Catalog, Resource: discoveryv1.Resource("endpointslices")},
		pods:     reconcile.Objects[*corev1.Pod]{Catalog: config.Catalog, Resource: corev1.Resource("pods")},
		nodes:    reconcile.Objects[*corev1.Node]{Catalog: config.Catalog, Resource: corev1.Resource("nodes")},
	}
	return reconcile.New(config, reconcile.Spec[*corev1.Service]{
		Name: "endpointslice-controller", Account: "endpointslice-controller", Objects: c.services,
		Kind: serviceKind().GroupKind(), Dependents: []schema.GroupResource{c.slices.Resource},
		Related:   []schema.GroupResource{c.pods.Resource},
		Reconcile: c.reconcile,
	})
}

func serviceKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Service") }

// reconcile makes the slices of a Service contain its endpoints. The slices of a Service without a
// selector belong to others.
func (c *controller) reconcile(ctx context.Context, service *corev1.Service) (time.Duration, error) {
	if len(service.Spec.Selector) == 0 || service.Spec.Type == corev1.ServiceTypeExternalName || service.DeletionTimestamp != nil {
		return 0, nil
	}
	groups, err := c.endpoints(ctx, service)
	if err != nil {
		return 0, err
	}
	existing, err := c.slices.List(ctx, service.Namespace, labels.SelectorFromSet(labels.Set{
		discoveryv1.LabelServiceName: service.Name, discoveryv1.LabelManagedBy: managedBy,
	}))
	if err != nil {
		return 0, err
	}
	return 0, c.write(ctx, distribute(service, groups, existing))
}

// write creates, updates and deletes slices.
func (c *controller) write(ctx context.Context, p plan) error {
	var errs []error
	for _, u := range p.update {
		_, err := c.slices.Update(ctx, u.old, func(slice *discoveryv1.EndpointSlice) {
			slice.Labels, slice.OwnerReferences = u.next.Labels, u.next.OwnerReferences
			slice.Endpoints = u.next.Endpoints
		})
		errs = append(errs, err)
	}
	for _, slice := range p.create {
		_, err := c.slices.Create(ctx, slice)
		errs = append(errs, reconcile.IgnoreTerminating(err))
	}
	for _, slice := range p.remove {
		errs = append(errs, c.slices.Delete(ctx, slice))
	}
	return errors.Join(errs...)
}
