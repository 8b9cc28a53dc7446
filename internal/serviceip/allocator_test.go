package serviceip_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestAServiceGetsAnAddress(t *testing.T) {
	e := newEnv(t)
	s := e.create("a", nil)
	address, err := netip.ParseAddr(s.Spec.ClusterIP)
	if err != nil || !netip.MustParsePrefix("10.0.0.0/24").Contains(address) || address.Less(netip.MustParseAddr("10.0.0.17")) {
		t.Errorf("address %q: those at the beginning are for who asks for them", s.Spec.ClusterIP)
	}
	want := corev1.ServiceSpec{
		ClusterIP: s.Spec.ClusterIP, ClusterIPs: []string{s.Spec.ClusterIP},
		IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack),
	}
	got := corev1.ServiceSpec{
		ClusterIP: s.Spec.ClusterIP, ClusterIPs: s.Spec.ClusterIPs, IPFamilies: s.Spec.IPFamilies, IPFamilyPolicy: s.Spec.IPFamilyPolicy,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	claim := e.Get("ipaddresses.networking.k8s.io", "", s.Spec.ClusterIP).(*networkingv1.IPAddress)
	if diff := cmp.Diff(serviceip.NewIPAddress(address, "x", "a").Spec, claim.Spec); diff != "" {
		t.Error(diff)
	}
	e.remove("a")
	e.expect("a service that is gone has nothing", nil, nil)
}

func TestAddressesThatAreAskedFor(t *testing.T) {
	e := newEnv(t)
	ask := func(ip string) func(*corev1.ServiceSpec) { return func(s *corev1.ServiceSpec) { s.ClusterIP = ip } }
	if s := e.create("a", ask("10.0.0.5")); !slices.Equal(s.Spec.ClusterIPs, []string{"10.0.0.5"}) {
		t.Errorf("addresses %q", s.Spec.ClusterIPs)
	}
	refused := func(ip, why string) string {
		return `Service "b" is invalid: spec.clusterIPs: Invalid value: ["` + ip + `"]: failed to allocate IP ` + ip + `: ` + why
	}
	const foreign = "the provided network does not match the current range"
	for _, tc := range []struct{ rule, ip, want string }{
		{"one that is taken", "10.0.0.5", refused("10.0.0.5", "provided IP is already allocated")},
		{"of another network", "10.0.1.5", refused("10.0.1.5", foreign)},
		{"that of the network", "10.0.0.0", refused("10.0.0.0", foreign)},
		{"that for everybody", "10.0.0.255", refused("10.0.0.255", foreign)},
		{"of another family", "fd00::1", `Service "b" is invalid: spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster`},
		{"none at all", "10.0.0", `Service "b" is invalid: spec.clusterIPs[0]: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"one that is free", "10.0.0.6", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t), e.clock}
			for _, options := range []registry.WriteOptions{dry(), {}} {
				if _, refusal := e.try("b", ask(tc.ip), options); refusal != tc.want {
					t.Errorf("got  %s\nwant %s", refusal, tc.want)
				}
			}
		})
	}
	e.expect("what was refused took nothing", []string{"10.0.0.5", "10.0.0.6"}, nil)
}

func TestADryRunTakesNothing(t *testing.T) {
	e := newEnv(t)
	s, refusal := e.try("a", nodePort(), dry())
	if refusal != "" || s.Spec.ClusterIP == "" || s.Spec.Ports[0].NodePort == 0 {
		t.Errorf("service %v, refusal %q", s, refusal)
	}
	e.expect("after a dry run", nil, nil)
	e.create("a", nil)
	taken := e.addresses()
	if _, refusal := e.try("a", nodePort(), registry.WriteOptions{}); !strings.Contains(refusal, "already exists") {
		t.Error(refusal)
	}
	e.expect("what a failed creation took goes back", taken, []int{})
}

func TestSomeServicesHaveNoAddress(t *testing.T) {
	e := newEnv(t)
	headless := e.create("headless", func(s *corev1.ServiceSpec) { s.ClusterIP = "None" })
	anywhere := e.create("anywhere", func(s *corev1.ServiceSpec) { s.ClusterIP, s.Selector = "None", nil })
	e.create("name", func(s *corev1.ServiceSpec) { s.Type, s.ExternalName = corev1.ServiceTypeExternalName, "a.b" })
	e.expect("nothing is taken", nil, nil)
	if f := headless.Spec.IPFamilies; len(f) != 1 {
		t.Errorf("one with a selector has the cluster's family: %v", f)
	}
	if f := anywhere.Spec.IPFamilies; len(f) != 2 || *anywhere.Spec.IPFamilyPolicy != corev1.IPFamilyPolicyRequireDualStack {
		t.Errorf("one without may have any: %v", f)
	}
}

// An address and a port follow the type of a service.
func TestTypesOfServices(t *testing.T) {
	e := newEnv(t)
	own := []string{e.create("s", nil).Spec.ClusterIP}
	to := func(kind corev1.ServiceType) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) {
			if s.Type, s.ExternalName = kind, ""; kind == corev1.ServiceTypeExternalName {
				s.ExternalName = "a.b"
			}
		}
	}
	step := func(kind corev1.ServiceType) *corev1.Service {
		t.Helper()
		s, refusal := e.change("s", to(kind))
		if refusal != "" {
			t.Fatal(refusal)
		}
		return s
	}
	s := step(corev1.ServiceTypeNodePort)
	port := int(s.Spec.Ports[0].NodePort)
	e.expect("a port comes beside the address", own, []int{port})
	step(corev1.ServiceTypeLoadBalancer)
	e.expect("a load balancer keeps it", own, []int{port})
	if s, _ = e.change("s", func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal }); s.Spec.HealthCheckNodePort == 0 {
		t.Error("a policy that needs health checks gets no port for them")
	}
	both := []int{port, int(s.Spec.HealthCheckNodePort)}
	slices.Sort(both)
	e.expect("health checks have a port of their own", own, both)
	if s = step(corev1.ServiceTypeClusterIP); s.Spec.Ports[0].NodePort != 0 || s.Spec.HealthCheckNodePort != 0 || s.Spec.ClusterIP != own[0] {
		t.Errorf("back to an address: %v", s.Spec)
	}
	e.expect("both ports go", own, []int{})
	if s = step(corev1.ServiceTypeExternalName); s.Spec.ClusterIP != "" || s.Spec.ClusterIPs != nil || s.Spec.IPFamilies != nil || s.Spec.IPFamilyPolicy != nil {
		t.Errorf("a name has no address: %v", s.Spec)
	}
	e.expect("the address goes", nil, []int{})
	s = step(corev1.ServiceTypeNodePort)
	e.expect("both come again", s.Spec.ClusterIPs, []int{int(s.Spec.Ports[0].NodePort)})
	e.remove("s")
	e.expect("and go with the service", nil, []int{})
}

func TestAddressesStay(t *testing.T) {
	e := newEnv(t)
	own := e.create("s", nil).Spec.ClusterIP
	same, refusal := e.change("s", func(s *corev1.ServiceSpec) {
		s.ClusterIP, s.ClusterIPs, s.IPFamilies, s.IPFamilyPolicy = "", nil, nil, nil
	})
	if refusal != "" || same.Spec.ClusterIP != own {
		t.Errorf("who leaves the address out keeps it: %q, refusal %q", same.Spec.ClusterIP, refusal)
	}
	_, refusal = e.change("s", func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.9" })
	if want := `Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set`; refusal != want {
		t.Errorf("got  %s\nwant %s", refusal, want)
	}
	e.expect("after all", []string{own}, nil)
}

func TestOlderServicesGetAnAddressWithTheirNextWrite(t *testing.T) {
	e := newEnv(t)
	codec := e.Store("services").Resource().Codec
	old := newService("old", func(s *corev1.ServiceSpec) {
		s.Type, s.SessionAffinity = corev1.ServiceTypeClusterIP, corev1.ServiceAffinityNone
	})
	taken := newService("taken", func(s *corev1.ServiceSpec) { s.Type, s.ClusterIP = corev1.ServiceTypeClusterIP, "10.0.0.5" })
	for _, s := range []*corev1.Service{old, taken} {
		e.Default("services", s)
		data, err := codec.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Client.Put(t.Context(), "/registry/services/specs/x/"+s.Name, string(data)); err != nil {
			t.Fatal(err)
		}
	}
	if s, refusal := e.change("old", func(s *corev1.ServiceSpec) { s.Selector = nil }); refusal != "" || s.Spec.ClusterIP == "" {
		t.Errorf("service %v, refusal %q", s, refusal)
	}
	if _, refusal := e.try("b", func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.5" }, registry.WriteOptions{}); !strings.Contains(refusal, "already allocated") {
		t.Errorf("the address of a service that has no IPAddress: %q", refusal)
	}
}

func TestServiceCIDRs(t *testing.T) {
	e := newEnv(t, "10.0.0.0/29")
	for range 6 {
		e.create("s"+string(rune('a'+len(e.addresses()))), nil)
	}
	want := "Internal error occurred: failed to allocate a serviceIP: range is full"
	if _, refusal := e.try("more", nil, registry.WriteOptions{}); refusal != want {
		t.Errorf("got %q, want %q", refusal, want)
	}
	e.Create("servicecidrs.networking.k8s.io", &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: "more"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.77.0.0/24"}},
	})
	if s := e.create("more", nil); !strings.HasPrefix(s.Spec.ClusterIP, "10.77.0.") {
		t.Errorf("address %q", s.Spec.ClusterIP)
	}
}

// What a server that died has left behind is found when it is needed.
func TestLostAddressesAndPorts(t *testing.T) {
	e := newEnv(t, "10.0.0.0/29")
	lose := func(name string) *corev1.Service {
		s := e.create(name, nodePort())
		if _, err := e.Client.Delete(t.Context(), "/registry/services/specs/x/"+name); err != nil {
			t.Fatal(err)
		}
		return s
	}
	lost := lose("lost").Spec
	again := func(s *corev1.ServiceSpec) {
		nodePort(lost.Ports[0].NodePort)(s)
		s.ClusterIP = lost.ClusterIP
	}
	if _, refusal := e.try("s", again, registry.WriteOptions{}); !strings.Contains(refusal, "provided IP is already allocated") {
		t.Errorf("somebody may be about to use it: %q", refusal)
	}
	*e.clock = e.clock.Add(5 * time.Minute)
	if _, refusal := e.try("s", again, registry.WriteOptions{}); !strings.Contains(refusal, "provided port is already allocated") {
		t.Errorf("it may be about to be given back: %q", refusal)
	}
	*e.clock = e.clock.Add(5 * time.Minute)
	s := e.create("s", again).Spec
	if s.ClusterIP != lost.ClusterIP || s.Ports[0].NodePort != lost.Ports[0].NodePort {
		t.Errorf("%q and %d", s.ClusterIP, s.Ports[0].NodePort)
	}
	*e.clock = time.Now() // IPAddresses are dated by the catalog
	for i := range 5 {
		lose("t" + string(rune('a'+i)))
	}
	if _, refusal := e.try("full", nil, registry.WriteOptions{}); !strings.Contains(refusal, "range is full") {
		t.Errorf("refusal %q", refusal)
	}
	*e.clock = e.clock.Add(5 * time.Minute)
	e.create("full", nil)
}

func TestDeletionTakesTheEndpointsAlong(t *testing.T) {
	e := newEnv(t)
	e.create("s", nil)
	e.Create("endpoints", &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "s"}})
	e.remove("s")
	if _, err := e.Store("endpoints").Get(t.Context(), "x", "s", ""); err == nil {
		t.Error("they are still there")
	}
}

// The status is somebody else's business: what a client sends along with it
// takes nothing.
func TestStatusTakesNothing(t *testing.T) {
	e := newEnv(t)
	own := e.create("s", nil).Spec.ClusterIPs
	_, err := e.Store("services").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "s", Subresource: "status",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			return registrytest.Change(current.(*corev1.Service), func(s *corev1.Service) { nodePort(30001)(&s.Spec) }), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.expect("after a write of the status", own, nil)
	if _, refusal := e.try("b", nodePort(30001), registry.WriteOptions{}); refusal != "" {
		t.Error(refusal)
	}
}
