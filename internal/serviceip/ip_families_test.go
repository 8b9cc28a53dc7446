package serviceip_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/registry"
)

func policy(policy corev1.IPFamilyPolicy, families ...corev1.IPFamily) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) { s.IPFamilyPolicy, s.IPFamilies = &policy, families }
}

func TestFamilies(t *testing.T) {
	const v4, v6 = corev1.IPv4Protocol, corev1.IPv6Protocol
	const single, prefer, require = corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack
	one, both := []string{"10.0.0.0/24"}, []string{"fd00::/112", "10.0.0.0/24"}
	for _, tc := range []struct {
		rule    string
		ranges  []string
		change  func(*corev1.ServiceSpec)
		want    string // families, the policy
		failure string
	}{
		{"the primary family is the default", both, nil, "IPv6 SingleStack", ""},
		{"the other family can be requested", both, policy(single, v4), "IPv4 SingleStack", ""},
		{"PreferDualStack with two families", both, policy(prefer), "IPv6 IPv4 PreferDualStack", ""},
		{"PreferDualStack with one family", one, policy(prefer), "IPv4 PreferDualStack", ""},
		{"the order of families can be requested", both, policy(require, v4), "IPv4 IPv6 RequireDualStack", ""},
		{"RequireDualStack with one family", one, policy(require), "",
			`Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`},
		{"a family that is not configured", one, policy(single, v6), "",
			`Service "s" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`},
		{"two families with the default policy", both, func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{v4, v6} }, "",
			`Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`},
		{"families are inferred from addresses", both, func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.9" }, "IPv4 SingleStack", ""},
		{"an address of another family than requested", both, func(s *corev1.ServiceSpec) { policy(single, v6)(s); s.ClusterIP = "10.0.0.9" }, "",
			"Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: \"10.0.0.9\": expected an IPv6 value as indicated by `ipFamilies[0]`"},
		{"clusterIPs without clusterIP", both, func(s *corev1.ServiceSpec) { s.ClusterIPs = []string{"10.0.0.9"} }, "",
			"Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"10.0.0.9\"]: must be empty when `clusterIP` is not specified"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := newEnv(t, tc.ranges...)
			s, failure := e.try("s", tc.change, registry.WriteOptions{})
			if failure != tc.failure {
				t.Fatalf("got  %s\nwant %s", failure, tc.failure)
			}
			if s == nil {
				return
			}
			var got []string
			for i, family := range s.Spec.IPFamilies {
				got = append(got, string(family))
				if strings.Contains(s.Spec.ClusterIPs[i], ":") != (family == v6) {
					t.Errorf("addresses %q of %q", s.Spec.ClusterIPs, s.Spec.IPFamilies)
				}
			}
			if got := strings.Join(append(got, string(*s.Spec.IPFamilyPolicy)), " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSecondaryAddress(t *testing.T) {
	e := newEnv(t, "10.0.0.0/24", "fd00::/112")
	first := e.create("s", nil).Spec.ClusterIP
	s, failure := e.change("s", policy(corev1.IPFamilyPolicyRequireDualStack, corev1.IPv4Protocol))
	if failure != "" || len(s.Spec.ClusterIPs) != 2 || s.Spec.ClusterIP != first {
		t.Fatalf("service %v, failure %q", s, failure)
	}
	e.expect("RequireDualStack", s.Spec.ClusterIPs, nil)
	_, failure = e.change("s", func(s *corev1.ServiceSpec) { s.ClusterIPs = s.ClusterIPs[:1] })
	if want := `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary cluster IP`; !strings.Contains(failure, want) {
		t.Errorf("got %q", failure)
	}
	s, failure = e.change("s", func(s *corev1.ServiceSpec) { s.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack) })
	if failure != "" || len(s.Spec.ClusterIPs) != 1 || len(s.Spec.IPFamilies) != 1 {
		t.Fatalf("service %v, failure %q", s, failure)
	}
	e.expect("SingleStack", []string{first}, nil)
}
