package serviceip

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/core"
)

// portRequest is a request for one node port.
type portRequest struct {
	number int         // 0: any
	path   *field.Path // the field with the request
	// targets are the fields to set to the allocated port.
	targets []*int32
}

// portChange holds the node ports that a write allocates and releases.
type portChange struct {
	requests []*portRequest
	release  []int
}

// newPorts returns the node ports of a service that had none. Service ports with the same number
// and different protocols share a node port.
func newPorts(s *corev1.Service) portChange {
	var c portChange
	shared := map[int32]*portRequest{} // by number of the service port
	if core.HasNodePorts(&s.Spec) {
		for i := range s.Spec.Ports {
			p := &s.Spec.Ports[i]
			first := shared[p.Port]
			switch {
			case p.NodePort == 0 && !core.GetsNodePorts(&s.Spec):
			case first == nil:
				shared[p.Port] = c.request(i, requestedPort(s.Spec.Ports, p.Port), &p.NodePort)
			case p.NodePort == 0:
				first.targets = append(first.targets, &p.NodePort)
			case int(p.NodePort) != first.number:
				c.request(i, int(p.NodePort), &p.NodePort)
			}
		}
	}
	if core.HasHealthCheck(&s.Spec) {
		c.requestHealthCheck(s)
	}
	return c
}

// changedPorts returns the node ports that an update adds and removes.
func changedPorts(s, old *corev1.Service) portChange {
	var c portChange
	oldPorts := nodePorts(&old.Spec)
	if core.HasNodePorts(&s.Spec) {
		for i := range s.Spec.Ports {
			p := &s.Spec.Ports[i]
			requested := slices.ContainsFunc(c.requests, func(r *portRequest) bool { return r.number == int(p.NodePort) })
			switch {
			case p.NodePort == 0 && core.GetsNodePorts(&s.Spec):
				c.request(i, 0, &p.NodePort)
			case p.NodePort != 0 && !requested && !slices.Contains(oldPorts, int(p.NodePort)):
				c.request(i, int(p.NodePort), &p.NodePort)
			}
		}
	}
	if core.HasNodePorts(&old.Spec) {
		c.release = slices.DeleteFunc(oldPorts, func(port int) bool {
			return core.HasNodePorts(&s.Spec) && slices.Contains(nodePorts(&s.Spec), port)
		})
	}
	hadCheck, hasCheck := core.HasHealthCheck(&old.Spec), core.HasHealthCheck(&s.Spec)
	switch {
	case hasCheck && !hadCheck:
		c.requestHealthCheck(s)
	case hadCheck && !hasCheck && old.Spec.HealthCheckNodePort != 0:
		c.release = append(c.release, int(old.Spec.HealthCheckNodePort))
	}
	return c
}

func (c *portChange) request(index, number int, target *int32) *portRequest {
	r := &portRequest{number: number, path: field.NewPath("spec", "ports").Index(index).Child("nodePort"), targets: []*int32{target}}
	c.requests = append(c.requests, r)
	return r
}

func (c *portChange) requestHealthCheck(s *corev1.Service) {
	port := &s.Spec.HealthCheckNodePort
	c.requests = append(c.requests, &portRequest{number: int(*port), path: field.NewPath("spec", "healthCheckNodePort"), targets: []*int32{port}})
}

// requestedPort returns the node port that a service port with a number requests, 0 if none does.
func requestedPort(ports []corev1.ServicePort, port int32) int {
	for _, p := range ports {
		if p.Port == port && p.NodePort != 0 {
			return int(p.NodePort)
		}
	}
	return 0
}

// nodePorts returns the distinct node ports of the service ports.
func nodePorts(spec *corev1.ServiceSpec) []int {
	var list []int
	for _, p := range spec.Ports {
		if p.NodePort != 0 && !slices.Contains(list, int(p.NodePort)) {
			list = append(list, int(p.NodePort))
		}
	}
	return list
}

// portsOf returns all node ports of a service, including the health check port.
func portsOf(spec *corev1.ServiceSpec) []int {
	list := nodePorts(spec)
	if spec.HealthCheckNodePort != 0 {
		list = append(list, int(spec.HealthCheckNodePort))
	}
	return list
}
