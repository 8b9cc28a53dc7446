package core

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/registry"
)

// There are no kubelets behind this server. The functions in this file perform the checks that
// kube-apiserver performs before it opens a connection, and return the error of a refused
// connection.

type connectFunc func(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error

func proxySubresource(options runtime.Object, kind string, connect connectFunc) registry.Subresource {
	return registry.Subresource{
		Name:    "proxy",
		Verbs:   []string{"create", "delete", "get", "patch", "update"},
		Kind:    schema.GroupVersionKind{Kind: kind},
		New:     options.DeepCopyObject,
		Connect: connect,
	}
}

func nodeProxy() registry.Subresource {
	return proxySubresource(&corev1.NodeProxyOptions{}, "NodeProxyOptions", connectNode)
}

func serviceProxy() registry.Subresource {
	return proxySubresource(&corev1.ServiceProxyOptions{}, "ServiceProxyOptions", connectService)
}

func connectNode(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
	_, name, port, ok := utilnet.SplitSchemeNamePort(req.Name)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid node request %q", req.Name))
	}
	node, err := registry.Read[*corev1.Node](ctx, store, "", name, "")
	if err != nil {
		return err
	}
	return unreachableKubelet(node, port)
}

// unreachableKubelet returns the error for the kubelet of a node. An empty port is the kubelet's
// own.
func unreachableKubelet(node *corev1.Node, port string) error {
	address, err := kubeletAddress(node, port)
	if err != nil {
		return err
	}
	return unreachable(address)
}

func kubeletAddress(node *corev1.Node, port string) (string, error) {
	const kubeletPort = 10250
	if port == "" {
		port = strconv.Itoa(int(cmp.Or(node.Status.DaemonEndpoints.KubeletEndpoint.Port, kubeletPort)))
	}
	for _, kind := range []corev1.NodeAddressType{
		corev1.NodeHostName, corev1.NodeInternalDNS, corev1.NodeInternalIP, corev1.NodeExternalDNS, corev1.NodeExternalIP,
	} {
		if host := nodeAddress(node, kind); host != "" {
			return net.JoinHostPort(host, port), nil
		}
	}
	return "", fmt.Errorf("no preferred addresses found; known addresses: %v", node.Status.Addresses)
}

// unreachable returns the error of a refused connection.
func unreachable(address string) error {
	return apierrors.NewServiceUnavailable("error trying to reach service: " + refused(address))
}

func refused(address string) string {
	return fmt.Sprintf("dial tcp %s: connect: connection refused", address)
}

func connectService(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
	_, name, port, ok := utilnet.SplitSchemeNamePort(req.Name)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid service request %q", req.Name))
	}
	service, err := registry.Read[*corev1.Service](ctx, store, req.Namespace, name, "")
	if err != nil {
		return err
	}
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		if port, err = portName(service, number); err != nil {
			return err
		}
	}
	all, err := registry.Require(store.Catalog(), corev1.Resource("endpoints"))
	if err != nil {
		return err
	}
	list, err := registry.Read[*corev1.Endpoints](ctx, all, req.Namespace, name, "")
	if apierrors.IsNotFound(err) {
		// The error names the service, as the request does.
		return apierrors.NewNotFound(corev1.Resource("services"), name)
	}
	if err != nil {
		return err
	}
	if len(list.Subsets) == 0 {
		return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	return unreachableEndpoint(list, port, req.Name)
}

func portName(service *corev1.Service, number int64) (string, error) {
	for _, p := range service.Spec.Ports {
		if int64(p.Port) == number {
			return p.Name, nil
		}
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, service.Name))
}

func unreachableEndpoint(list *corev1.Endpoints, port, id string) error {
	for _, subset := range list.Subsets {
		for _, p := range subset.Ports {
			if p.Name == port && len(subset.Addresses) > 0 {
				return unreachable(net.JoinHostPort(subset.Addresses[0].IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", id))
}
