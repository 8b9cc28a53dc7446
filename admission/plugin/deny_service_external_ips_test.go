package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestDenyServiceExternalIPs(t *testing.T) {
	const denied = `services "s" is forbidden: Use of external IPs is denied by admission control`
	service := func(ips ...string) *corev1.Service {
		return &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{
			ClusterIP: "None", Selector: map[string]string{"a": "b"}, ExternalIPs: ips,
		}}
	}
	open := newKinds(t, plugin.Config{})
	old := mustCreate(open, "services", service("1.1.1.1", "1.1.1.2"))
	e := newKinds(t, plugin.Config{Enable: []string{"DenyServiceExternalIPs"}})
	if _, failure := e.try("services", service("1.1.1.1")); failure != denied {
		t.Errorf("a new service with external IPs: got %q", failure)
	}
	created := mustCreate(e, "services", service())
	if _, err := tryChange(e, "services", "", created, func(s *corev1.Service) {
		s.Spec.ExternalIPs, s.Spec.ExternalTrafficPolicy = []string{"1.1.1.1"}, corev1.ServiceExternalTrafficPolicyCluster
	}); text(err) != denied {
		t.Errorf("an update that adds an external IP: %v", err)
	}
	for _, tc := range []struct {
		rule string
		ips  []string
		want string
	}{
		{"the same IPs", []string{"1.1.1.2", "1.1.1.1"}, ""},
		{"fewer IPs", []string{"1.1.1.2"}, ""},
		{"no IPs", nil, ""},
		{"another IP", []string{"1.1.1.1", "1.1.1.3"}, denied},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			a := update(open, "services", old, service(tc.ips...))
			if got := text(plugin.DenyServiceExternalIPs().Validate(t.Context(), a)); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
			a.Subresource = "status"
			if err := plugin.DenyServiceExternalIPs().Validate(t.Context(), a); err != nil {
				t.Errorf("a subresource: %v", err)
			}
		})
	}
}
