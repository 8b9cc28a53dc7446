package endpointslice

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/controllers/pods"
)

// group has the endpoints of a Service with one type of address and the same ports.
type group struct {
	addressType discoveryv1.AddressType
	ports       []discoveryv1.EndpointPort
	endpoints   []discoveryv1.Endpoint
}

// groupKey returns a key that equal types of addresses with equal ports share.
func groupKey(addressType discoveryv1.AddressType, ports []discoveryv1.EndpointPort) string {
	if len(ports) == 0 {
		return string(addressType)
	}
	text, err := json.Marshal(ports)
	if err != nil {
		panic(err) // the type has no values that cannot be encoded
	}
	return string(addressType) + string(text)
}

// endpoints returns the groups of the endpoints of a Service. An address family without endpoints
// has an empty group.
func (c *controller) endpoints(ctx context.Context, service *corev1.Service) (map[string]*group, error) {
	selected, err := c.pods.List(ctx, service.Namespace, labels.SelectorFromSet(service.Spec.Selector))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(selected, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	groups := map[string]*group{}
	for _, family := range service.Spec.IPFamilies {
		addressType := discoveryv1.AddressType(family)
		empty := true
		for _, pod := range selected {
			addresses := addressesOf(pod, addressType)
			if len(addresses) == 0 || pods.HasEnded(pod) {
				continue
			}
			endpoint, err := c.endpoint(ctx, service, pod, addresses)
			if err != nil {
				return nil, err
			}
			ports := portsOf(service, pod)
			key := groupKey(addressType, ports)
			if groups[key] == nil {
				groups[key] = &group{addressType: addressType, ports: ports}
			}
			groups[key].endpoints = append(groups[key].endpoints, endpoint)
			empty = false
		}
		if empty {
			groups[groupKey(addressType, nil)] = &group{addressType: addressType}
		}
	}
	return groups, nil
}

func addressesOf(pod *corev1.Pod, addressType discoveryv1.AddressType) []string {
	var addresses []string
	for _, ip := range pod.Status.PodIPs {
		address, err := netip.ParseAddr(ip.IP)
		if err == nil && address.Is4() == (addressType == discoveryv1.AddressTypeIPv4) {
			addresses = append(addresses, ip.IP)
		}
	}
	return addresses
}

func (c *controller) endpoint(ctx context.Context, service *corev1.Service, pod *corev1.Pod, addresses []string) (discoveryv1.Endpoint, error) {
	serving, terminating := pods.IsReady(pod), pod.DeletionTimestamp != nil
	endpoint := discoveryv1.Endpoint{
		Addresses: addresses,
		Conditions: discoveryv1.EndpointConditions{
			Ready:   new(service.Spec.PublishNotReadyAddresses || serving && !terminating),
			Serving: &serving, Terminating: &terminating,
		},
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
	}
	if pod.Spec.Hostname != "" && pod.Spec.Subdomain == service.Name {
		endpoint.Hostname = new(pod.Spec.Hostname)
	}
	if pod.Spec.NodeName == "" {
		return endpoint, nil
	}
	endpoint.NodeName = new(pod.Spec.NodeName)
	node, err := c.nodes.Get(ctx, "", pod.Spec.NodeName)
	switch {
	case apierrors.IsNotFound(err):
		return endpoint, nil
	case err != nil:
		return endpoint, err
	}
	if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" {
		endpoint.Zone = &zone
	}
	return endpoint, nil
}

// portsOf returns the ports of a Service on a pod. Named ports that the pod lacks are left out.
func portsOf(service *corev1.Service, pod *corev1.Pod) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for _, port := range service.Spec.Ports {
		if number, ok := targetPort(port, pod); ok {
			ports = append(ports, discoveryv1.EndpointPort{
				Name: new(port.Name), Port: &number, Protocol: new(port.Protocol), AppProtocol: port.AppProtocol,
			})
		}
	}
	return ports
}

func targetPort(port corev1.ServicePort, pod *corev1.Pod) (number int32, ok bool) {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal, true
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, sidecars(pod)} {
		for i := range list {
			for _, p := range list[i].Ports {
				if p.Name == port.TargetPort.StrVal && p.Protocol == port.Protocol {
					return p.ContainerPort, true
				}
			}
		}
	}
	return 0, false
}

func sidecars(pod *corev1.Pod) []corev1.Container {
	return slices.DeleteFunc(slices.Clone(pod.Spec.InitContainers), func(c corev1.Container) bool {
		return c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways
	})
}
