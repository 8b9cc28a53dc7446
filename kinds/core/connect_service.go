package core

import (
	"context"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// endpointFinder returns the address of an endpoint that serves a port of a service. The port is a
// name. The error is the error of the request if there is none.
type endpointFinder func(ctx context.Context, lookup registry.Lookup, service serviceName, port string) (string, error)

// serviceName names the service of a request, as its path does in id.
type serviceName struct{ namespace, name, id string }

func (s serviceName) unavailable(id string) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", id))
}

func serviceProxy(features *feature.Set) registry.Subresource {
	find := findInSlices
	if !features.Enabled(feature.ProxyToEndpointSlices) {
		find = findInEndpoints
	}
	return proxySubresource(&corev1.ServiceProxyOptions{}, "ServiceProxyOptions",
		func(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
			return connectService(ctx, store, req, find)
		})
}

func connectService(ctx context.Context, store *registry.Store, req registry.ConnectRequest, find endpointFinder) error {
	_, name, port, ok := utilnet.SplitSchemeNamePort(req.Name)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid service request %q", req.Name))
	}
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		service, err := registry.Read[*corev1.Service](ctx, store, req.Namespace, name, "")
		if err != nil {
			return err
		}
		if port, err = portName(service, number); err != nil {
			return err
		}
	}
	address, err := find(ctx, store.Catalog(), serviceName{req.Namespace, name, req.Name}, port)
	if err != nil {
		return err
	}
	return unreachable(address)
}

func portName(service *corev1.Service, number int64) (string, error) {
	for _, p := range service.Spec.Ports {
		if int64(p.Port) == number {
			return p.Name, nil
		}
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, service.Name))
}

func findInSlices(ctx context.Context, lookup registry.Lookup, service serviceName, port string) (string, error) {
	slices, err := registry.Require(lookup, discoveryv1.Resource("endpointslices"))
	if err != nil {
		return "", err
	}
	list, err := registry.ReadAll[*discoveryv1.EndpointSlice](ctx, slices, registry.ListRequest{
		Namespace: service.namespace,
		Label:     labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.name}),
	})
	if err != nil {
		return "", err
	}
	for _, slice := range list {
		for _, p := range slice.Ports {
			if p.Port == nil || p.Name != nil && *p.Name != port || p.Name == nil && port != "" {
				continue
			}
			if ip, ok := readyAddress(slice); ok {
				return net.JoinHostPort(ip, strconv.Itoa(int(*p.Port))), nil
			}
		}
	}
	return "", service.unavailable(service.name)
}

func readyAddress(slice *discoveryv1.EndpointSlice) (string, bool) {
	for _, e := range slice.Endpoints {
		if ready := e.Conditions.Ready; (ready == nil || *ready) && len(e.Addresses) > 0 {
			return e.Addresses[0], true
		}
	}
	return "", false
}

func findInEndpoints(ctx context.Context, lookup registry.Lookup, service serviceName, port string) (string, error) {
	all, err := registry.Require(lookup, corev1.Resource("endpoints"))
	if err != nil {
		return "", err
	}
	list, err := registry.Read[*corev1.Endpoints](ctx, all, service.namespace, service.name, "")
	if apierrors.IsNotFound(err) {
		// The error names the service, as the request does.
		return "", apierrors.NewNotFound(corev1.Resource("services"), service.name)
	}
	if err != nil {
		return "", err
	}
	if len(list.Subsets) == 0 {
		return "", service.unavailable(service.name)
	}
	for _, subset := range list.Subsets {
		for _, p := range subset.Ports {
			if p.Name == port && len(subset.Addresses) > 0 {
				return net.JoinHostPort(subset.Addresses[0].IP, strconv.Itoa(int(p.Port))), nil
			}
		}
	}
	return "", service.unavailable(service.id)
}
