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
