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

// meter knows what the objects of a resource use up.
type meter struct {
	// updates, and the subresource by which an update changes usage, are
	// measured beside creations.
	updates     bool
	subresource string
	// counts tells whether a quota's entry is about these objects.
	counts func(name corev1.ResourceName) bool
	usage  func(obj runtime.Object) corev1.ResourceList
	// demand names what an object has to say for a quota with these entries.
	// Nil: nothing.
	demand func(names []corev1.ResourceName, obj runtime.Object) error
	// inScope tells whether a quota that is for some objects only is for this
	// one. Nil: for none.
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool
}

func (m meter) measures(operation registry.Operation, subresource string) bool {
	switch operation {
	case registry.OperationCreate:
		return subresource == ""
	case registry.OperationUpdate:
		return m.updates && subresource == m.subresource
	default:
		return false
	}
}

// concerns tells whether a quota limits such an object at all.
func (m meter) concerns(quota *corev1.ResourceQuota, obj runtime.Object) bool {
	counts := false
	for name := range quota.Status.Hard {
		counts = counts || m.counts(name)
	}
	outOfScope := func(s corev1.ScopedResourceSelectorRequirement) bool { return m.inScope == nil || !m.inScope(s, obj) }
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

// meterOf returns the meter of a resource: most are counted and no more.
func meterOf(r schema.GroupResource) meter {
	switch r {
	case corev1.Resource("pods"):
		return podMeter()
	case corev1.Resource("services"):
		return serviceMeter()
	case corev1.Resource("persistentvolumeclaims"):
		return claimMeter()
	}
	names := []corev1.ResourceName{countOf(r)}
	switch r {
	case corev1.Resource("configmaps"), corev1.Resource("resourcequotas"), corev1.Resource("replicationcontrollers"), corev1.Resource("secrets"):
		names = append(names, corev1.ResourceName(r.Resource))
	}
	return meter{
		counts: func(name corev1.ResourceName) bool { return slices.Contains(names, name) },
		usage: func(runtime.Object) corev1.ResourceList {
			used := corev1.ResourceList{}
			for _, name := range names {
				used[name] = number(1)
			}
			return used
		},
	}
}

// countOf is the entry of a quota by which objects of a resource are counted.
func countOf(r schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName("count/" + r.String())
}

func number(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func serviceMeter() meter {
	count := countOf(corev1.Resource("services"))
	return meter{
		updates: true,
		counts: func(name corev1.ResourceName) bool {
			return slices.Contains([]corev1.ResourceName{
				count, corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
			}, name)
		},
		usage: func(obj runtime.Object) corev1.ResourceList {
			spec := &obj.(*corev1.Service).Spec
			used := corev1.ResourceList{count: number(1), corev1.ResourceServices: number(1)}
			switch spec.Type {
			case corev1.ServiceTypeNodePort:
				used[corev1.ResourceServicesNodePorts] = number(len(spec.Ports))
			case corev1.ServiceTypeLoadBalancer:
				used[corev1.ResourceServicesNodePorts] = number(balancerPorts(spec))
				used[corev1.ResourceServicesLoadBalancers] = number(1)
			}
			return used
		},
	}
}

// balancerPorts counts the node ports of a load balancer: where none are handed
// out those that are asked for.
func balancerPorts(spec *corev1.ServiceSpec) int {
	if spec.AllocateLoadBalancerNodePorts == nil || *spec.AllocateLoadBalancerNodePorts {
		return len(spec.Ports)
	}
	return len(slices.DeleteFunc(slices.Clone(spec.Ports), func(p corev1.ServicePort) bool { return p.NodePort == 0 }))
}

// classSuffix is between the name of a storage class and what its claims use.
const classSuffix = ".storageclass.storage.k8s.io/"

func claimMeter() meter {
	count := countOf(corev1.Resource("persistentvolumeclaims"))
	return meter{
		updates: true,
		counts: func(name corev1.ResourceName) bool {
			if _, entry, ok := strings.Cut(string(name), classSuffix); ok {
				name = corev1.ResourceName(entry)
			}
			return name == count || name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
		},
		usage: func(obj runtime.Object) corev1.ResourceList {
			claim := obj.(*corev1.PersistentVolumeClaim)
			used := corev1.ResourceList{count: number(1), corev1.ResourcePersistentVolumeClaims: number(1)}
			if size, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
				used[corev1.ResourceRequestsStorage] = size
			}
			if class := classOf(claim); class != "" {
				for _, name := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
					if quantity, ok := used[name]; ok {
						used[corev1.ResourceName(class+classSuffix)+name] = quantity
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
