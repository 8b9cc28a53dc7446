package core

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/registry"
)

func podExec() registry.Subresource {
	return streamSubresource("exec", &corev1.PodExecOptions{}, "PodExecOptions", connectContainer)
}

func podAttach() registry.Subresource {
	return streamSubresource("attach", &corev1.PodAttachOptions{}, "PodAttachOptions", connectContainer)
}

func podPortForward() registry.Subresource {
	return streamSubresource("portforward", &corev1.PodPortForwardOptions{}, "PodPortForwardOptions", connectPod)
}

func streamSubresource(name string, options runtime.Object, kind string, connect connectFunc) registry.Subresource {
	return registry.Subresource{
		Name:    name,
		Verbs:   []string{"create", "get"},
		Kind:    schema.GroupVersionKind{Kind: kind},
		New:     options.DeepCopyObject,
		Connect: connect,
	}
}

func podProxy() registry.Subresource {
	return proxySubresource(&corev1.PodProxyOptions{}, "PodProxyOptions", connectPodPort)
}

// connectContainer handles exec and attach.
func connectContainer(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
	pod, err := registry.Read[*corev1.Pod](ctx, store, req.Namespace, req.Name, "")
	if err != nil {
		return err
	}
	if _, err := pickContainer(pod, req.Query); err != nil {
		return err
	}
	return dialKubelet(ctx, store.Catalog(), pod)
}

// connectPod handles requests that name no container.
func connectPod(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
	pod, err := registry.Read[*corev1.Pod](ctx, store, req.Namespace, req.Name, "")
	if err != nil {
		return err
	}
	return dialKubelet(ctx, store.Catalog(), pod)
}

func dialKubelet(ctx context.Context, lookup registry.Lookup, pod *corev1.Pod) error {
	if pod.Spec.NodeName == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
	}
	address, err := hostAddress(ctx, lookup, pod)
	if err != nil {
		return err
	}
	return errors.New("error dialing backend: " + refused(address))
}

// hostAddress returns the address of the kubelet of a pod's node.
func hostAddress(ctx context.Context, lookup registry.Lookup, pod *corev1.Pod) (string, error) {
	nodes, err := registry.Require(lookup, corev1.Resource("nodes"))
	if err != nil {
		return "", err
	}
	node, err := registry.Read[*corev1.Node](ctx, nodes, "", pod.Spec.NodeName, "")
	if apierrors.IsNotFound(err) {
		// kube-apiserver names the resource of the request, not the nodes resource.
		return "", apierrors.NewNotFound(corev1.Resource("pods"), pod.Spec.NodeName)
	}
	if err != nil {
		return "", err
	}
	return kubeletAddress(node, "")
}

// pickContainer returns the container that the query names, or the only one.
func pickContainer(pod *corev1.Pod, query map[string][]string) (string, error) {
	containers, inits := containerNames(pod.Spec.Containers), containerNames(pod.Spec.InitContainers)
	asked := ""
	if values := query["container"]; len(values) > 0 {
		asked = values[0]
	}
	switch {
	case asked != "":
		if hasContainer(pod, asked) {
			return asked, nil
		}
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", asked, pod.Name))
	case len(containers) == 1:
		return containers[0], nil
	case len(containers) == 0:
		return "", apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s", pod.Name))
	}
	text := fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, containers)
	if len(inits) > 0 {
		text += fmt.Sprintf(" or one of the init containers: %s", inits)
	}
	return "", apierrors.NewBadRequest(text)
}

func containerNames(list []corev1.Container) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

func hasContainer(pod *corev1.Pod, name string) bool {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		if pod.Spec.EphemeralContainers[i].Name == name {
			return true
		}
	}
	return false
}

// connectPodPort handles the proxy, which connects to the pod's own address.
func connectPodPort(ctx context.Context, store *registry.Store, req registry.ConnectRequest) error {
	scheme, name, port, ok := utilnet.SplitSchemeNamePort(req.Name)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid pod request %q", req.Name))
	}
	pod, err := registry.Read[*corev1.Pod](ctx, store, req.Namespace, name, "")
	if err != nil {
		return err
	}
	ip := net.ParseIP(podIP(pod))
	if ip == nil || !ip.IsGlobalUnicast() {
		return apierrors.NewBadRequest("address not allowed")
	}
	if port == "" {
		port = firstPort(pod, scheme)
	}
	return unreachable(net.JoinHostPort(ip.String(), port))
}

// firstPort returns the first port of any container, or the default port of the scheme.
func firstPort(pod *corev1.Pod, scheme string) string {
	for i := range pod.Spec.Containers {
		if ports := pod.Spec.Containers[i].Ports; len(ports) > 0 {
			return strconv.Itoa(int(ports[0].ContainerPort))
		}
	}
	if strings.EqualFold(scheme, "https") {
		return "443"
	}
	return "80"
}

func podIP(p *corev1.Pod) string {
	if p.Status.PodIP == "" && len(p.Status.PodIPs) > 0 {
		return p.Status.PodIPs[0].IP
	}
	return p.Status.PodIP
}
