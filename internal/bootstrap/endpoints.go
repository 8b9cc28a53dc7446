package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/registry"
)

// hasEndpoints reports whether endpoints with the address are valid.
func (c Config) hasEndpoints() bool {
	a := c.Advertise
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsLinkLocalMulticast()
}

func endpoints(cfg Config) *corev1.Endpoints {
	object := &corev1.Endpoints{
		ObjectMeta: kubernetesMeta(),
		Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: cfg.Advertise.String()}},
			Ports:     []corev1.EndpointPort{{Name: "https", Port: int32(cfg.Port), Protocol: corev1.ProtocolTCP}},
		}},
	}
	object.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}
	return object
}

func endpointSlice(cfg Config) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  kubernetesMeta(),
		AddressType: discoveryv1.AddressType(core.FamilyOf(cfg.Advertise.String())),
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{cfg.Advertise.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)},
		}},
		Ports: []discoveryv1.EndpointPort{{
			Name:     ptr.To("https"),
			Port:     ptr.To(int32(cfg.Port)),
			Protocol: ptr.To(corev1.ProtocolTCP),
		}},
	}
	slice.Generation = 1
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: "kubernetes"}
	return slice
}

// UpdateEndpoints writes the address and the port of the server to the stored Service
// default/kubernetes, its Endpoints and its EndpointSlice, in which data of an earlier start may
// name another port. With Config.Shared, addresses of servers with the same port remain.
func UpdateEndpoints(ctx context.Context, catalog registry.Lookup, cfg Config) error {
	if !cfg.hasEndpoints() {
		return nil
	}
	var errs []error
	for resource, edit := range map[schema.GroupResource]func(runtime.Object){
		corev1.Resource("services"): func(obj runtime.Object) {
			for i := range obj.(*corev1.Service).Spec.Ports {
				obj.(*corev1.Service).Spec.Ports[i].TargetPort = intstr.FromInt(cfg.Port)
			}
		},
		corev1.Resource("endpoints"):           func(obj runtime.Object) { cfg.setSubsets(obj.(*corev1.Endpoints)) },
		discoveryv1.Resource("endpointslices"): func(obj runtime.Object) { cfg.setEndpoints(obj.(*discoveryv1.EndpointSlice)) },
	} {
		err := updateKubernetes(ctx, catalog, resource, edit)
		errs = append(errs, utilerrors.FilterOut(err, apierrors.IsNotFound)) // deleted since the start
	}
	return errors.Join(errs...)
}

func updateKubernetes(ctx context.Context, catalog registry.Lookup, resource schema.GroupResource, edit func(runtime.Object)) error {
	store, err := registry.Require(catalog, resource)
	if err != nil {
		return err
	}
	_, err = store.Update(ctx, registry.UpdateRequest{
		Namespace: metav1.NamespaceDefault, Name: "kubernetes",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject()
			edit(next)
			return next, nil
		},
	})
	if err != nil {
		return fmt.Errorf("update %s default/kubernetes: %w", resource, err)
	}
	return nil
}

func (c Config) setSubsets(stored *corev1.Endpoints) {
	next := endpoints(c).Subsets
	for _, subset := range stored.Subsets {
		for _, address := range subset.Addresses {
			same := len(subset.Ports) == 1 && subset.Ports[0].Port == int32(c.Port)
			if c.Shared && same && address.IP != c.Advertise.String() {
				next[0].Addresses = append(next[0].Addresses, address)
			}
		}
	}
	slices.SortFunc(next[0].Addresses, func(a, b corev1.EndpointAddress) int { return cmp.Compare(a.IP, b.IP) })
	stored.Subsets = next
}

func (c Config) setEndpoints(stored *discoveryv1.EndpointSlice) {
	next := endpointSlice(c)
	same := len(stored.Ports) == 1 && ptr.Equal(stored.Ports[0].Port, next.Ports[0].Port)
	for _, endpoint := range stored.Endpoints {
		if c.Shared && same && !slices.Contains(endpoint.Addresses, c.Advertise.String()) {
			next.Endpoints = append(next.Endpoints, endpoint)
		}
	}
	slices.SortFunc(next.Endpoints, func(a, b discoveryv1.Endpoint) int { return slices.Compare(a.Addresses, b.Addresses) })
	stored.Endpoints, stored.Ports = next.Endpoints, next.Ports
}
