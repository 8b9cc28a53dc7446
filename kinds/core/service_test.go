package core_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTypeDependentServiceFieldsAreDropped(t *testing.T) {
	e := newEnv(t)
	fill := e.Store("services").Resource().Versions[0].Default
	for _, tc := range []struct {
		name   string
		change func(*corev1.ServiceSpec)
		policy corev1.ServiceExternalTrafficPolicy
		ports  bool
	}{
		{"same type", func(*corev1.ServiceSpec) {}, corev1.ServiceExternalTrafficPolicyCluster, true},
		{"to NodePort", func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort }, corev1.ServiceExternalTrafficPolicyCluster, false},
		{"to ClusterIP", func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeClusterIP }, "", false},
		{"with external IPs", func(s *corev1.ServiceSpec) {
			s.Type, s.ExternalIPs = corev1.ServiceTypeClusterIP, []string{"10.0.0.1"}
		}, corev1.ServiceExternalTrafficPolicyCluster, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := env{e.With(t)}
			service := &corev1.Service{ObjectMeta: named(""), Spec: corev1.ServiceSpec{
				Type:  corev1.ServiceTypeLoadBalancer,
				Ports: []corev1.ServicePort{{Port: 80}},
			}}
			service.GenerateName = "s-"
			fill(service)
			created := e.Create("services", service).(*corev1.Service)
			got := mustPut(e, "services", created.Name, "", func(s *corev1.Service) { tc.change(&s.Spec) }).Spec
			if got.ExternalTrafficPolicy != tc.policy || (got.AllocateLoadBalancerNodePorts != nil) != tc.ports {
				t.Errorf("policy %q, node ports %v", got.ExternalTrafficPolicy, got.AllocateLoadBalancerNodePorts)
			}
		})
	}
}

// Older releases did not set all defaults of today.
func TestStoredServicesAreDefaultedOnRead(t *testing.T) {
	codec := newEnv(t).Store("services").Resource().Codec
	data, err := codec.Encode(&corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := codec.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if policy := obj.(*corev1.Service).Spec.InternalTrafficPolicy; policy == nil || *policy != corev1.ServiceInternalTrafficPolicyCluster {
		t.Errorf("internal traffic policy %v", policy)
	}
}
