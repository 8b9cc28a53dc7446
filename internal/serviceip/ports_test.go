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

func TestNodePortsThatAreAskedFor(t *testing.T) {
	e := newEnv(t)
	e.create("a", nodePort(30005))
	for _, tc := range []struct {
		rule, want string
		port       int32
	}{
		{"one that is taken", `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30005: provided port is already allocated`, 30005},
		{"one out of the range", `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30019`, 80},
		{"one that is free", "", 30006},
	} {
		for _, options := range []registry.WriteOptions{dry(), {}} {
			if _, refusal := e.try("b", nodePort(tc.port), options); refusal != tc.want {
				t.Errorf("%s: got  %s\nwant %s", tc.rule, refusal, tc.want)
			}
		}
	}
	_, refusal := e.try("c", func(s *corev1.ServiceSpec) {
		s.Type, s.ExternalTrafficPolicy, s.HealthCheckNodePort = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal, 30005
	}, registry.WriteOptions{})
	if want := `Service "c" is invalid: spec.healthCheckNodePort: Invalid value: 30005: provided port is already allocated`; refusal != want {
		t.Errorf("got  %s\nwant %s", refusal, want)
	}
	if got := e.ports(); !slices.Equal(got, []int{30005, 30006}) {
		t.Errorf("ports %v: what was refused took something", got)
	}
}

func TestProtocolsShareANodePort(t *testing.T) {
	e := newEnv(t)
	s := e.create("dns", ports(corev1.ProtocolTCP, corev1.ProtocolUDP)).Spec
	if s.Ports[0].NodePort == 0 || s.Ports[0].NodePort != s.Ports[1].NodePort || len(e.ports()) != 1 {
		t.Errorf("ports %v, taken %v", s.Ports, e.ports())
	}
	e.remove("dns")
	if got := e.ports(); len(got) > 0 {
		t.Errorf("taken %v", got)
	}
}

func TestNodePortsFollowTheirNames(t *testing.T) {
	e := newEnv(t)
	was := e.create("s", ports(corev1.ProtocolTCP)).Spec.Ports[0].NodePort
	s, refusal := e.change("s", func(s *corev1.ServiceSpec) {
		s.Ports = append([]corev1.ServicePort{{Name: "new", Port: 54, Protocol: corev1.ProtocolTCP}}, s.Ports...)
		s.Ports[1].NodePort = 0
	})
	if refusal != "" || s.Spec.Ports[1].NodePort != was || s.Spec.Ports[0].NodePort == 0 || s.Spec.Ports[0].NodePort == was {
		t.Fatalf("had %d, has %v, refusal %q", was, s, refusal)
	}
	kept := int(s.Spec.Ports[0].NodePort)
	if _, refusal = e.change("s", func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }); refusal != "" {
		t.Fatal(refusal)
	}
	if got := e.ports(); !slices.Equal(got, []int{kept}) {
		t.Errorf("ports %v, want %d", got, kept)
	}
}

func TestBalancersWithoutNodePorts(t *testing.T) {
	e := newEnv(t)
	s := e.create("s", func(s *corev1.ServiceSpec) {
		s.Type, s.AllocateLoadBalancerNodePorts = corev1.ServiceTypeLoadBalancer, new(false)
	})
	if s.Spec.Ports[0].NodePort != 0 {
		t.Errorf("port %d", s.Spec.Ports[0].NodePort)
	}
}

func TestPortsRunOut(t *testing.T) {
	e := newEnv(t)
	for i := range 20 {
		e.create("s"+string(rune('a'+i)), nodePort())
	}
	want := "Internal error occurred: failed to allocate a nodePort: range is full"
	if _, refusal := e.try("more", nodePort(), registry.WriteOptions{}); refusal != want {
		t.Errorf("got %q, want %q", refusal, want)
	}
}
