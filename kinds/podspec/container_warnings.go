package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warningsForEnv returns warnings about variables that are set twice, unless the later value refers
// to the earlier one.
func warningsForEnv(env []corev1.EnvVar, at *field.Path) []string {
	var list []string
	taken := sets.New[string]()
	for i, v := range env {
		earlier := "$(" + v.Name + ")"
		extends := v.ValueFrom == nil && v.Value != earlier && strings.Contains(v.Value, earlier)
		if taken.Has(v.Name) && !extends {
			list = append(list, warn(at.Index(i), fmt.Sprintf("hides previous definition of %q, which may be dropped when using apply", v.Name)))
		}
		taken.Insert(v.Name)
	}
	return list
}

// portAndProtocol identifies the ports that can clash.
type portAndProtocol struct {
	port     int32
	protocol corev1.Protocol
}

// placedPort is a port with its path.
type placedPort struct {
	corev1.ContainerPort
	at *field.Path
}

// maxPortWarnings limits the warnings about ports: their number is quadratic in the number of
// ports, and an answer has room for a few of them.
const maxPortWarnings = 1000

// warningsForPorts returns warnings about ports that containers share.
func warningsForPorts(spec *corev1.PodSpec, at *field.Path) []string {
	var list []string
	earlier := make(map[portAndProtocol][]placedPort)
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		for i, port := range c.Ports {
			p := placedPort{port, at.Child("ports").Index(i)}
			if p.HostIP != "" && p.HostPort == 0 {
				list = append(list, warn(p.at, fmt.Sprintf("hostIP set without hostPort: %+v", port)))
			}
			number := portAndProtocol{port.ContainerPort, port.Protocol}
			for _, other := range earlier[number] {
				if len(list) >= maxPortWarnings {
					return
				}
				if text := p.clash(other); text != "" {
					list = append(list, warn(p.at, text+" port definition with "+other.at.String()))
				}
			}
			earlier[number] = append(earlier[number], p)
		}
	})
	return list
}

// warningsForPortNames returns warnings about port names that several containers use.
func warningsForPortNames(spec *corev1.PodSpec, at *field.Path) []string {
	var list []string
	first := make(map[string]*field.Path)
	check := func(ports []corev1.ContainerPort, at *field.Path) {
		for i, p := range ports {
			at := at.Child("ports").Index(i)
			if was, taken := first[p.Name]; taken {
				list = append(list, warn(at, fmt.Sprintf("duplicate port name %q with %s, services and probes that select ports by name will use %s", p.Name, was, was)))
			} else if p.Name != "" {
				first[p.Name] = at
			}
		}
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			check(spec.InitContainers[i].Ports, at.Child("initContainers").Index(i))
		}
	}
	for i := range spec.Containers {
		check(spec.Containers[i].Ports, at.Child("containers").Index(i))
	}
	return list
}

// clash describes the conflict of a port with another one of the same number and protocol, "" for
// none.
func (p placedPort) clash(other placedPort) string {
	switch {
	case p.HostIP == other.HostIP && p.HostPort == other.HostPort:
		return "duplicate"
	case p.HostPort == 0 || other.HostPort == 0:
		return "overlapping"
	case p.HostPort == other.HostPort && (p.HostIP == "") != (other.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}
