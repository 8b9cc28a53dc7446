package plugin

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// quotaEvaluator computes the quota usage of the objects of a resource.
type quotaEvaluator struct {
	// updates is set if updates of a subresource change the usage. Creations always do.
	updates     bool
	subresource string
	// counts reports whether a resource name of a quota applies to these objects.
	counts func(name corev1.ResourceName) bool
	usage  func(obj runtime.Object) corev1.ResourceList
	// constraints returns an error if an object lacks fields that a quota with these names
	// requires. Nil: no fields are required.
	constraints func(names []corev1.ResourceName, obj runtime.Object) error
	// inScope reports whether a scope includes an object. Nil: no object is in any scope.
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool
}

// handles reports whether a write can change the usage.
func (e quotaEvaluator) handles(operation registry.Operation, subresource string) bool {
	switch operation {
	case registry.OperationCreate:
		return subresource == ""
	case registry.OperationUpdate:
		return e.updates && subresource == e.subresource
	default:
		return false
	}
}

// matches reports whether a quota applies to an object.
func (e quotaEvaluator) matches(quota *corev1.ResourceQuota, obj runtime.Object) bool {
	counts := false
	for name := range quota.Status.Hard {
		counts = counts || e.counts(name)
	}
	outOfScope := func(s corev1.ScopedResourceSelectorRequirement) bool { return e.inScope == nil || !e.inScope(s, obj) }
	return counts && !slices.ContainsFunc(scopesOf(quota), outOfScope)
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

// quotaEvaluatorOf returns the evaluator of a resource. For most resources it only counts objects.
func quotaEvaluatorOf(r schema.GroupResource) quotaEvaluator {
	switch r {
	case corev1.Resource("pods"):
		return podEvaluator()
	case corev1.Resource("services"):
		return serviceEvaluator()
	case corev1.Resource("persistentvolumeclaims"):
		return claimEvaluator()
	}
	names := []corev1.ResourceName{objectCountName(r)}
	switch r {
	case corev1.Resource("configmaps"), corev1.Resource("resourcequotas"), corev1.Resource("replicationcontrollers"), corev1.Resource("secrets"):
		names = append(names, corev1.ResourceName(r.Resource))
	}
	return quotaEvaluator{
		counts: func(name corev1.ResourceName) bool { return slices.Contains(names, name) },
		usage: func(runtime.Object) corev1.ResourceList {
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

func serviceEvaluator() quotaEvaluator {
	count := objectCountName(corev1.Resource("services"))
	return quotaEvaluator{
		updates: true,
		counts: func(name corev1.ResourceName) bool {
			return slices.Contains([]corev1.ResourceName{
				count, corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
			}, name)
		},
		usage: func(obj runtime.Object) corev1.ResourceList {
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

// classSuffix separates the name of a storage class from a resource name in a quota.
const classSuffix = ".storageclass.storage.k8s.io/"

func claimEvaluator() quotaEvaluator {
	count := objectCountName(corev1.Resource("persistentvolumeclaims"))
	return quotaEvaluator{
		updates: true,
		counts: func(name corev1.ResourceName) bool {
			if _, rest, ok := strings.Cut(string(name), classSuffix); ok {
				name = corev1.ResourceName(rest)
			}
			return name == count || name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
		},
		usage: func(obj runtime.Object) corev1.ResourceList {
			claim := obj.(*corev1.PersistentVolumeClaim)
			used := corev1.ResourceList{count: newQuantity(1), corev1.ResourcePersistentVolumeClaims: newQuantity(1)}
			if size, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
				used[corev1.ResourceRequestsStorage] = size
			}
			if class := classOf(claim); class != "" {
				for _, name := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
					if amount, ok := used[name]; ok {
						used[corev1.ResourceName(class+classSuffix)+name] = amount
					}
				}
			}
			return used
		},
	}
}

func classOf(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}
