package endpointslice

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxEndpoints is the maximum number of endpoints in a slice.
const maxEndpoints = 100

// plan has the slices to create, to update and to remove.
type plan struct {
	create, remove []*discoveryv1.EndpointSlice
	update         []update
}

// update is a slice before and after a change.
type update struct{ old, next *discoveryv1.EndpointSlice }

// distribute puts the endpoints of a Service into slices. An endpoint stays in its slice, and a new
// one goes to the first slice with room.
func distribute(service *corev1.Service, groups map[string]*group, existing []*discoveryv1.EndpointSlice) plan {
	slices.SortFunc(existing, func(a, b *discoveryv1.EndpointSlice) int { return strings.Compare(a.Name, b.Name) })
	byGroup := map[string][]update{}
	var p plan
	for _, slice := range existing {
		key := groupKey(slice.AddressType, slice.Ports)
		if groups[key] == nil {
			p.remove = append(p.remove, slice)
			continue
		}
		next := slice.DeepCopy()
		setMetadata(next, service)
		byGroup[key] = append(byGroup[key], update{slice, next})
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		groups[key].fill(&p, service, byGroup[key])
	}
	return p
}

// fill distributes the endpoints of a group over its slices and new ones. Empty slices are removed,
// except one slice of an empty group.
func (g *group) fill(p *plan, service *corev1.Service, list []update) {
	missing := map[types.UID]discoveryv1.Endpoint{}
	for _, endpoint := range g.endpoints {
		missing[endpoint.TargetRef.UID] = endpoint
	}
	for _, slice := range list {
		slice.next.Endpoints = g.retain(slice.old.Endpoints, missing)
	}
	rest := slices.DeleteFunc(slices.Clone(g.endpoints), func(e discoveryv1.Endpoint) bool {
		_, ok := missing[e.TargetRef.UID]
		return !ok
	})
	for i, slice := range list {
		next := slice.next
		n := min(len(rest), maxEndpoints-len(next.Endpoints))
		next.Endpoints, rest = append(next.Endpoints, rest[:n]...), rest[n:]
		if len(next.Endpoints) > 0 || len(g.endpoints) == 0 && i == 0 {
			p.update = append(p.update, slice)
		} else {
			p.remove = append(p.remove, slice.old)
		}
	}
	for chunk := range slices.Chunk(rest, maxEndpoints) {
		p.create = append(p.create, g.newSlice(service, chunk))
	}
	if len(g.endpoints)+len(list) == 0 {
		p.create = append(p.create, g.newSlice(service, []discoveryv1.Endpoint{}))
	}
}

// retain returns the current state of the endpoints that remain, and removes them from missing.
func (g *group) retain(endpoints []discoveryv1.Endpoint, missing map[types.UID]discoveryv1.Endpoint) []discoveryv1.Endpoint {
	retained := []discoveryv1.Endpoint{}
	for _, endpoint := range endpoints {
		if endpoint.TargetRef == nil {
			continue
		}
		if current, ok := missing[endpoint.TargetRef.UID]; ok {
			delete(missing, endpoint.TargetRef.UID)
			retained = append(retained, current)
		}
	}
	return retained
}

func (g *group) newSlice(service *corev1.Service, endpoints []discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: service.Namespace, GenerateName: service.Name + "-"},
		AddressType: g.addressType, Ports: g.ports, Endpoints: endpoints,
	}
	setMetadata(slice, service)
	return slice
}

// setMetadata sets the owner of a slice, and the labels of its Service and of this controller.
func setMetadata(slice *discoveryv1.EndpointSlice, service *corev1.Service) {
	slice.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(service, serviceKind())}
	slice.Labels = maps.Clone(service.Labels)
	delete(slice.Labels, corev1.IsHeadlessService)
	metav1.SetMetaDataLabel(&slice.ObjectMeta, discoveryv1.LabelServiceName, service.Name)
	metav1.SetMetaDataLabel(&slice.ObjectMeta, discoveryv1.LabelManagedBy, managedBy)
	if service.Spec.ClusterIP == corev1.ClusterIPNone {
		metav1.SetMetaDataLabel(&slice.ObjectMeta, corev1.IsHeadlessService, "")
	}
}
