package aggregator

import (
	"context"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry"
)

// resolve returns the address of the server, HOST:PORT, or a condition with the reason why it has
// none.
func (s *server) resolve(ctx context.Context) (string, *apiregistrationv1.APIServiceCondition) {
	ref := s.service.Spec.Service
	port := ptr.Deref(ref.Port, 443)
	service, err := s.serviceOf(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return "", unavailable("ServiceNotFound", "service/%s in %q is not present", ref.Name, ref.Namespace)
	case err != nil:
		return "", unknown("ServiceAccessError", ref, err)
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return net.JoinHostPort(service.Spec.ExternalName, strconv.Itoa(int(port))), nil
	}
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return "", unavailable("ServicePortError", "service/%s in %q is not listening on port %d", ref.Name, ref.Namespace, port)
	}
	return s.endpoint(ctx, service.Spec.Ports[i].Name)
}

func unknown(reason string, ref *apiregistrationv1.ServiceReference, err error) *apiregistrationv1.APIServiceCondition {
	condition := unavailable(reason, "service/%s in %q cannot be checked due to: %v", ref.Name, ref.Namespace, err)
	condition.Status = apiregistrationv1.ConditionUnknown
	return condition
}

func (s *server) serviceOf(ctx context.Context) (*corev1.Service, error) {
	store, err := s.store(corev1.Resource("services"))
	if err != nil {
		return nil, err
	}
	return registry.Read[*corev1.Service](ctx, store, s.service.Spec.Service.Namespace, s.service.Spec.Service.Name, "")
}

// endpoint returns the address of a ready endpoint, or a condition as resolve does.
func (s *server) endpoint(ctx context.Context, portName string) (string, *apiregistrationv1.APIServiceCondition) {
	ref := s.service.Spec.Service
	found, err := s.listEndpointSlices(ctx)
	if err != nil {
		return "", unknown("EndpointsAccessError", ref, err)
	}
	if len(found) == 0 {
		return "", unavailable("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", ref.Name, ref.Namespace)
	}
	for _, slice := range found {
		port := slices.IndexFunc(slice.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Name != nil && *p.Name == portName && p.Port != nil
		})
		ready := slices.IndexFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
			return (e.Conditions.Ready == nil || *e.Conditions.Ready) && len(e.Addresses) > 0
		})
		if port >= 0 && ready >= 0 {
			return net.JoinHostPort(slice.Endpoints[ready].Addresses[0], strconv.Itoa(int(*slice.Ports[port].Port))), nil
		}
	}
	return "", unavailable("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", ref.Name, ref.Namespace, portName)
}

func (s *server) listEndpointSlices(ctx context.Context) ([]*discoveryv1.EndpointSlice, error) {
	store, err := s.store(endpointSlices)
	if err != nil {
		return nil, err
	}
	return registry.ReadAll[*discoveryv1.EndpointSlice](ctx, store, registry.ListRequest{
		Namespace: s.service.Spec.Service.Namespace,
		Label:     labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.service.Spec.Service.Name}),
	})
}
