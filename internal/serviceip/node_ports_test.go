package serviceip_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/registry"
)

func ports(protocols ...corev1.Protocol) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) {
		s.Type, s.Ports = corev1.ServiceTypeNodePort, nil
		for _, p := range protocols {
			s.Ports = append(s.Ports, corev1.ServicePort{Name: string('a' + rune(len(s.Ports))), Port: 53, Protocol: p})
		}
	}
}

func TestRequestedNodePorts(t *testing.T) {
	e := newEnv(t)
	e.create("a", nodePort(30005))
	for _, tc := range []struct {
		rule, want string
		port       int32
	}{
		{"an allocated port", `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30005: provided port is already allocated`, 30005},
		{"a port outside of the range", `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30019`, 80},
		{"a free port", "", 30006},
	} {
		for _, options := range []registry.WriteOptions{dry(), {}} {
			if _, failure := e.try("b", nodePort(tc.port), options); failure != tc.want {
				t.Errorf("%s: got  %s\nwant %s", tc.rule, failure, tc.want)
			}
		}
	}
	_, failure := e.try("c", func(s *corev1.ServiceSpec) {
		s.Type, s.ExternalTrafficPolicy, s.HealthCheckNodePort = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal, 30005
	}, registry.WriteOptions{})
	if want := `Service "c" is invalid: spec.healthCheckNodePort: Invalid value: 30005: provided port is already allocated`; failure != want {
		t.Errorf("got  %s\nwant %s", failure, want)
	}
	if got := e.ports(); !slices.Equal(got, []int{30005, 30006}) {
		t.Errorf("ports %v after rejected requests", got)
	}
}

func TestProtocolsShareANodePort(t *testing.T) {
	e := newEnv(t)
	s := e.create("dns", ports(corev1.ProtocolTCP, corev1.ProtocolUDP)).Spec
	if s.Ports[0].NodePort == 0 || s.Ports[0].NodePort != s.Ports[1].NodePort || len(e.ports()) != 1 {
		t.Errorf("ports %v, allocated %v", s.Ports, e.ports())
	}
	e.remove("dns")
	if got := e.ports(); len(got) > 0 {
		t.Errorf("allocated %v", got)
	}
}

func TestNodePortsAreKeptByPortName(t *testing.T) {
	e := newEnv(t)
	port := e.create("s", ports(corev1.ProtocolTCP)).Spec.Ports[0].NodePort
	s, failure := e.change("s", func(s *corev1.ServiceSpec) {
		s.Ports = append([]corev1.ServicePort{{Name: "new", Port: 54, Protocol: corev1.ProtocolTCP}}, s.Ports...)
		s.Ports[1].NodePort = 0
	})
	if failure != "" || s.Spec.Ports[1].NodePort != port || s.Spec.Ports[0].NodePort == 0 || s.Spec.Ports[0].NodePort == port {
		t.Fatalf("had %d, has %v, failure %q", port, s, failure)
	}
	kept := int(s.Spec.Ports[0].NodePort)
	if _, failure = e.change("s", func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }); failure != "" {
		t.Fatal(failure)
	}
	if got := e.ports(); !slices.Equal(got, []int{kept}) {
		t.Errorf("ports %v, want %d", got, kept)
	}
}

func TestLoadBalancersWithoutNodePorts(t *testing.T) {
	e := newEnv(t)
	s := e.create("s", func(s *corev1.ServiceSpec) {
		s.Type, s.AllocateLoadBalancerNodePorts = corev1.ServiceTypeLoadBalancer, new(false)
	})
	if s.Spec.Ports[0].NodePort != 0 {
		t.Errorf("port %d", s.Spec.Ports[0].NodePort)
	}
}

func TestNodePortRangeIsFull(t *testing.T) {
	e := newEnv(t)
	for i := range 20 {
		e.create("s"+string(rune('a'+i)), nodePort())
	}
	want := "Internal error occurred: failed to allocate a nodePort: range is full"
	if _, failure := e.try("more", nodePort(), registry.WriteOptions{}); failure != want {
		t.Errorf("got %q, want %q", failure, want)
	}
}
