// Package quota computes the usage that a ResourceQuota limits. The admission plugin charges the
// usage of single writes, the controller adds up the stored objects.
package quota

import (
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// Evaluator computes the usage of the objects of a resource.
type Evaluator struct {
	// updates reports whether an update of the resource, or of a subresource of it, can change the
	// usage. Creations always do. Nil: updates do not.
	updates func(subresource string, obj, old runtime.Object) bool
	// counts reports whether a resource name of a quota applies to these objects.
	counts func(name corev1.ResourceName) bool
	// uniform is set if all objects have the same usage, so that no object must be decoded.
	uniform bool
	usage   func(obj runtime.Object, now time.Time) corev1.ResourceList
	// until returns the time at which the usage of an object changes without a write, and the zero
	// time if it does not. Nil: it does not.
	until func(obj runtime.Object) time.Time
	// constraints returns an error if an object lacks fields that a quota with these names
	// requires. Nil: no fields are required.
	constraints func(names []corev1.ResourceName, obj runtime.Object) error
	// inScope reports whether a scope includes an object. Nil: no object is in any scope.
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool
}

// Handles reports whether a write can increase the usage.
func (e Evaluator) Handles(a *registry.Attributes) bool {
	switch a.Operation {
	case registry.OperationCreate:
		return e.usage != nil && a.Subresource == ""
	case registry.OperationUpdate:
		return e.updates != nil && e.updates(a.Subresource, a.Object, a.OldObject)
	default:
		return false
	}
}

// updatesOf returns a value of Evaluator.updates for subresources, where "" is the resource itself.
func updatesOf(subresources ...string) func(string, runtime.Object, runtime.Object) bool {
	return func(subresource string, _, _ runtime.Object) bool { return slices.Contains(subresources, subresource) }
}

// Matches reports whether a quota applies to an object.
func (e Evaluator) Matches(quota *corev1.ResourceQuota, obj runtime.Object) bool {
	return e.CountsAny(quota.Status.Hard) && len(e.ScopesOf(quota, obj)) == len(scopesOf(quota))
}

// ScopesOf returns the scopes of a quota that include an object.
func (e Evaluator) ScopesOf(quota *corev1.ResourceQuota, obj runtime.Object) []corev1.ScopedResourceSelectorRequirement {
	return e.ScopesIncluding(scopesOf(quota), obj)
}

// ScopesIncluding returns the scopes that include an object.
func (e Evaluator) ScopesIncluding(scopes []corev1.ScopedResourceSelectorRequirement, obj runtime.Object) []corev1.ScopedResourceSelectorRequirement {
	var including []corev1.ScopedResourceSelectorRequirement
	for _, scope := range scopes {
		if e.inScope != nil && e.inScope(scope, obj) {
			including = append(including, scope)
		}
	}
	return including
}

// CountsAny reports whether a limit applies to objects of the resource.
func (e Evaluator) CountsAny(hard corev1.ResourceList) bool {
	for name := range hard {
		if e.counts(name) {
			return true
		}
	}
	return false
}

// Counted returns the names of the limits that apply to objects of the resource, sorted.
func (e Evaluator) Counted(hard corev1.ResourceList) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name := range hard {
		if e.counts(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Usage returns the usage of an object at a time. It has more names than a quota limits.
func (e Evaluator) Usage(obj runtime.Object, now time.Time) corev1.ResourceList {
	return e.usage(obj, now)
}

// CheckConstraints returns an error if an object lacks fields that a quota with these names
// requires.
func (e Evaluator) CheckConstraints(names []corev1.ResourceName, obj runtime.Object) error {
	if e.constraints == nil {
		return nil
	}
	return e.constraints(names, obj)
}

func scopesOf(quota *corev1.ResourceQuota) []corev1.ScopedResourceSelectorRequirement {
	var scopes []corev1.ScopedResourceSelectorRequirement
	for _, name := range quota.Spec.Scopes {
		scopes = append(scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: corev1.ScopeSelectorOpExists})
	}
	if quota.Spec.ScopeSelector != nil {
		scopes = append(scopes, quota.Spec.ScopeSelector.MatchExpressions...)
	}
	return scopes
}

// EvaluatorOf returns the evaluator of a resource. For most resources it only counts objects.
// Quotas do not limit Events and resources without stored objects.
func EvaluatorOf(r schema.GroupResource) Evaluator {
	switch r {
	case corev1.Resource("events"), eventsv1.Resource("events"), corev1.Resource("bindings"),
		authorizationv1.Resource("localsubjectaccessreviews"):
		return Evaluator{counts: func(corev1.ResourceName) bool { return false }}
	case corev1.Resource("pods"):
		return podEvaluator()
	case corev1.Resource("services"):
		return serviceEvaluator()
	case corev1.Resource("persistentvolumeclaims"):
		return claimEvaluator()
	}
	return countEvaluator(r)
}

func countEvaluator(r schema.GroupResource) Evaluator {
	names := []corev1.ResourceName{objectCountName(r)}
	switch r {
	case corev1.Resource("configmaps"), corev1.Resource("resourcequotas"), corev1.Resource("replicationcontrollers"), corev1.Resource("secrets"):
		names = append(names, corev1.ResourceName(r.Resource))
	}
	return Evaluator{
		counts:  func(name corev1.ResourceName) bool { return slices.Contains(names, name) },
		uniform: true,
		usage: func(runtime.Object, time.Time) corev1.ResourceList {
			used := corev1.ResourceList{}
			for _, name := range names {
				used[name] = newQuantity(1)
			}
			return used
		},
	}
}

// objectCountName returns the name under which quotas count the objects of a resource.
func objectCountName(r schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName("count/" + r.String())
}

func newQuantity(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func serviceEvaluator() Evaluator {
	count := objectCountName(corev1.Resource("services"))
	return Evaluator{
		updates: updatesOf(""),
		counts: func(name corev1.ResourceName) bool {
			return slices.Contains([]corev1.ResourceName{
				count, corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
			}, name)
		},
		usage: func(obj runtime.Object, _ time.Time) corev1.ResourceList {
			spec := &obj.(*corev1.Service).Spec
			used := corev1.ResourceList{count: newQuantity(1), corev1.ResourceServices: newQuantity(1)}
			switch spec.Type {
			case corev1.ServiceTypeNodePort:
				used[corev1.ResourceServicesNodePorts] = newQuantity(len(spec.Ports))
			case corev1.ServiceTypeLoadBalancer:
				used[corev1.ResourceServicesNodePorts] = newQuantity(balancerPorts(spec))
				used[corev1.ResourceServicesLoadBalancers] = newQuantity(1)
			}
			return used
		},
	}
}

// balancerPorts returns the number of node ports of a load balancer. Without allocation of node
// ports only explicit ports count.
func balancerPorts(spec *corev1.ServiceSpec) int {
	if spec.AllocateLoadBalancerNodePorts == nil || *spec.AllocateLoadBalancerNodePorts {
		return len(spec.Ports)
	}
	return len(slices.DeleteFunc(slices.Clone(spec.Ports), func(p corev1.ServicePort) bool { return p.NodePort == 0 }))
}
