package serviceip

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/core"
)

// wish is a node port that a service needs.
type wish struct {
	number int         // 0: any
	at     *field.Path // the field that asks for it
	// into are the fields that get it.
	into []*int32
}

// change is what a write does to the node ports of a service.
type change struct {
	wishes  []*wish
	release []int
}

// newPorts are those of a service that had none. Ports of one number and several
// protocols share a node port.
func newPorts(s *corev1.Service) change {
	var c change
	shared := map[int32]*wish{} // by number of the port
	if core.HasNodePorts(&s.Spec) {
		for i := range s.Spec.Ports {
			p := &s.Spec.Ports[i]
			first := shared[p.Port]
			switch {
			case p.NodePort == 0 && !core.GetsNodePorts(&s.Spec):
			case first == nil:
				shared[p.Port] = c.wish(i, requested(s.Spec.Ports, p.Port), &p.NodePort)
			case p.NodePort == 0:
				first.into = append(first.into, &p.NodePort)
			case int(p.NodePort) != first.number:
				c.wish(i, int(p.NodePort), &p.NodePort)
			}
		}
	}
	if core.HasHealthCheck(&s.Spec) {
		c.healthCheck(s)
	}
	return c
}

// changedPorts are those that a write adds and takes away.
func changedPorts(s, old *corev1.Service) change {
	var c change
	was := nodePorts(&old.Spec)
	if core.HasNodePorts(&s.Spec) {
		for i := range s.Spec.Ports {
			p := &s.Spec.Ports[i]
			wished := slices.ContainsFunc(c.wishes, func(w *wish) bool { return w.number == int(p.NodePort) })
			switch {
			case p.NodePort == 0 && core.GetsNodePorts(&s.Spec):
				c.wish(i, 0, &p.NodePort)
			case p.NodePort != 0 && !wished && !slices.Contains(was, int(p.NodePort)):
				c.wish(i, int(p.NodePort), &p.NodePort)
			}
		}
	}
	if core.HasNodePorts(&old.Spec) {
		c.release = slices.DeleteFunc(was, func(port int) bool {
			return core.HasNodePorts(&s.Spec) && slices.Contains(nodePorts(&s.Spec), port)
		})
	}
	needed, needs := core.HasHealthCheck(&old.Spec), core.HasHealthCheck(&s.Spec)
	switch {
	case needs && !needed:
		c.healthCheck(s)
	case needed && !needs && old.Spec.HealthCheckNodePort != 0:
		c.release = append(c.release, int(old.Spec.HealthCheckNodePort))
	}
	return c
}

func (c *change) wish(index, number int, into *int32) *wish {
	w := &wish{number: number, at: field.NewPath("spec", "ports").Index(index).Child("nodePort"), into: []*int32{into}}
	c.wishes = append(c.wishes, w)
	return w
}

func (c *change) healthCheck(s *corev1.Service) {
	port := &s.Spec.HealthCheckNodePort
	c.wishes = append(c.wishes, &wish{number: int(*port), at: field.NewPath("spec", "healthCheckNodePort"), into: []*int32{port}})
}

// requested is the node port that one of the ports of a number asks for.
func requested(ports []corev1.ServicePort, port int32) int {
	for _, p := range ports {
		if p.Port == port && p.NodePort != 0 {
			return int(p.NodePort)
		}
	}
	return 0
}

// nodePorts are those of a service's ports, each once.
func nodePorts(spec *corev1.ServiceSpec) []int {
	var list []int
	for _, p := range spec.Ports {
		if p.NodePort != 0 && !slices.Contains(list, int(p.NodePort)) {
			list = append(list, int(p.NodePort))
		}
	}
	return list
}

// portsOf are all that a service has taken.
func portsOf(spec *corev1.ServiceSpec) []int {
	list := nodePorts(spec)
	if spec.HealthCheckNodePort != 0 {
		list = append(list, int(spec.HealthCheckNodePort))
	}
	return list
}
