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

func TestAllocationOfAnAddress(t *testing.T) {
	e := newEnv(t)
	s := e.create("a", nil)
	address, err := netip.ParseAddr(s.Spec.ClusterIP)
	if err != nil || !netip.MustParsePrefix("10.0.0.0/24").Contains(address) || address.Less(netip.MustParseAddr("10.0.0.17")) {
		t.Errorf("address %q is not in the dynamic part of the range", s.Spec.ClusterIP)
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
	e.expect("after the deletion", nil, nil)
}

func TestRequestedAddresses(t *testing.T) {
	e := newEnv(t)
	request := func(ip string) func(*corev1.ServiceSpec) { return func(s *corev1.ServiceSpec) { s.ClusterIP = ip } }
	if s := e.create("a", request("10.0.0.5")); !slices.Equal(s.Spec.ClusterIPs, []string{"10.0.0.5"}) {
		t.Errorf("addresses %q", s.Spec.ClusterIPs)
	}
	failure := func(ip, reason string) string {
		return `Service "b" is invalid: spec.clusterIPs: Invalid value: ["` + ip + `"]: failed to allocate IP ` + ip + `: ` + reason
	}
	const notInRange = "the provided network does not match the current range"
	for _, tc := range []struct{ rule, ip, want string }{
		{"an allocated address", "10.0.0.5", failure("10.0.0.5", "provided IP is already allocated")},
		{"an address of another network", "10.0.1.5", failure("10.0.1.5", notInRange)},
		{"the network address", "10.0.0.0", failure("10.0.0.0", notInRange)},
		{"the broadcast address", "10.0.0.255", failure("10.0.0.255", notInRange)},
		{"an address of another family", "fd00::1", `Service "b" is invalid: spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster`},
		{"an invalid address", "10.0.0", `Service "b" is invalid: spec.clusterIPs[0]: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"a free address", "10.0.0.6", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t), e.clock}
			for _, options := range []registry.WriteOptions{dry(), {}} {
				if _, failure := e.try("b", request(tc.ip), options); failure != tc.want {
					t.Errorf("got  %s\nwant %s", failure, tc.want)
				}
			}
		})
	}
	e.expect("after rejected requests", []string{"10.0.0.5", "10.0.0.6"}, nil)
}

func TestDryRunAllocatesNothing(t *testing.T) {
	e := newEnv(t)
	s, failure := e.try("a", nodePort(), dry())
	if failure != "" || s.Spec.ClusterIP == "" || s.Spec.Ports[0].NodePort == 0 {
		t.Errorf("service %v, failure %q", s, failure)
	}
	e.expect("after a dry run", nil, nil)
	e.create("a", nil)
	allocated := e.addresses()
	if _, failure := e.try("a", nodePort(), registry.WriteOptions{}); !strings.Contains(failure, "already exists") {
		t.Error(failure)
	}
	e.expect("after a failed creation", allocated, []int{})
}

func TestServicesWithoutAddress(t *testing.T) {
	e := newEnv(t)
	headless := e.create("headless", func(s *corev1.ServiceSpec) { s.ClusterIP = "None" })
	selectorless := e.create("selectorless", func(s *corev1.ServiceSpec) { s.ClusterIP, s.Selector = "None", nil })
	e.create("name", func(s *corev1.ServiceSpec) { s.Type, s.ExternalName = corev1.ServiceTypeExternalName, "a.b" })
	e.expect("services without addresses", nil, nil)
	if f := headless.Spec.IPFamilies; len(f) != 1 {
		t.Errorf("families of a service with a selector: %v", f)
	}
	if f := selectorless.Spec.IPFamilies; len(f) != 2 || *selectorless.Spec.IPFamilyPolicy != corev1.IPFamilyPolicyRequireDualStack {
		t.Errorf("families of a service without a selector: %v", f)
	}
}

// The allocated address and ports follow the type of a service.
func TestTypeChanges(t *testing.T) {
	e := newEnv(t)
	before := []string{e.create("s", nil).Spec.ClusterIP}
	to := func(kind corev1.ServiceType) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) {
			if s.Type, s.ExternalName = kind, ""; kind == corev1.ServiceTypeExternalName {
				s.ExternalName = "a.b"
			}
		}
	}
	step := func(kind corev1.ServiceType) *corev1.Service {
		t.Helper()
		s, failure := e.change("s", to(kind))
		if failure != "" {
			t.Fatal(failure)
		}
		return s
	}
	s := step(corev1.ServiceTypeNodePort)
	port := int(s.Spec.Ports[0].NodePort)
	e.expect("NodePort", before, []int{port})
	step(corev1.ServiceTypeLoadBalancer)
	e.expect("LoadBalancer", before, []int{port})
	if s, _ = e.change("s", func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal }); s.Spec.HealthCheckNodePort == 0 {
		t.Error("no health check port was allocated")
	}
	both := []int{port, int(s.Spec.HealthCheckNodePort)}
	slices.Sort(both)
	e.expect("with a health check port", before, both)
	if s = step(corev1.ServiceTypeClusterIP); s.Spec.Ports[0].NodePort != 0 || s.Spec.HealthCheckNodePort != 0 || s.Spec.ClusterIP != before[0] {
		t.Errorf("ClusterIP: %v", s.Spec)
	}
	e.expect("ClusterIP", before, []int{})
	if s = step(corev1.ServiceTypeExternalName); s.Spec.ClusterIP != "" || s.Spec.ClusterIPs != nil || s.Spec.IPFamilies != nil || s.Spec.IPFamilyPolicy != nil {
		t.Errorf("ExternalName: %v", s.Spec)
	}
	e.expect("ExternalName", nil, []int{})
	s = step(corev1.ServiceTypeNodePort)
	e.expect("NodePort after ExternalName", s.Spec.ClusterIPs, []int{int(s.Spec.Ports[0].NodePort)})
	e.remove("s")
	e.expect("after the deletion of the service", nil, []int{})
}

func TestAddressesAreKept(t *testing.T) {
	e := newEnv(t)
	before := e.create("s", nil).Spec.ClusterIP
	same, failure := e.change("s", func(s *corev1.ServiceSpec) {
		s.ClusterIP, s.ClusterIPs, s.IPFamilies, s.IPFamilyPolicy = "", nil, nil, nil
	})
	if failure != "" || same.Spec.ClusterIP != before {
		t.Errorf("an update without the address: %q, failure %q", same.Spec.ClusterIP, failure)
	}
	_, failure = e.change("s", func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.9" })
	if want := `Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set`; failure != want {
		t.Errorf("got  %s\nwant %s", failure, want)
	}
	e.expect("after the updates", []string{before}, nil)
}

func TestServicesStoredWithoutAllocation(t *testing.T) {
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
	if s, failure := e.change("old", func(s *corev1.ServiceSpec) { s.Selector = nil }); failure != "" || s.Spec.ClusterIP == "" {
		t.Errorf("service %v, failure %q", s, failure)
	}
	if _, failure := e.try("b", func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.5" }, registry.WriteOptions{}); !strings.Contains(failure, "already allocated") {
		t.Errorf("an address without IPAddress object: %q", failure)
	}
}

func TestServiceCIDRs(t *testing.T) {
	e := newEnv(t, "10.0.0.0/29")
	for range 6 {
		e.create("s"+string(rune('a'+len(e.addresses()))), nil)
	}
	want := `Internal error occurred: failed to allocate a serviceIP for Service "more": range is full`
	if _, failure := e.try("more", nil, registry.WriteOptions{}); failure != want {
		t.Errorf("got %q, want %q", failure, want)
	}
	e.Create("servicecidrs.networking.k8s.io", &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: "more"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.77.0.0/24"}},
	})
	if s := e.create("more", nil); !strings.HasPrefix(s.Spec.ClusterIP, "10.77.0.") {
		t.Errorf("address %q", s.Spec.ClusterIP)
	}
}

// Claims that a crashed server left behind are reclaimed when they are needed.
func TestLeakedAddressesAndPorts(t *testing.T) {
	e := newEnv(t, "10.0.0.0/29")
	leak := func(name string) *corev1.Service {
		s := e.create(name, nodePort())
		if _, err := e.Client.Delete(t.Context(), "/registry/services/specs/x/"+name); err != nil {
			t.Fatal(err)
		}
		return s
	}
	leaked := leak("leaked").Spec
	request := func(s *corev1.ServiceSpec) {
		nodePort(leaked.Ports[0].NodePort)(s)
		s.ClusterIP = leaked.ClusterIP
	}
	if _, failure := e.try("s", request, registry.WriteOptions{}); !strings.Contains(failure, "provided IP is already allocated") {
		t.Errorf("an address claimed recently was allocated: %q", failure)
	}
	*e.clock = e.clock.Add(5 * time.Minute)
	if _, failure := e.try("s", request, registry.WriteOptions{}); !strings.Contains(failure, "provided port is already allocated") {
		t.Errorf("a port orphaned recently was allocated: %q", failure)
	}
	*e.clock = e.clock.Add(5 * time.Minute)
	s := e.create("s", request).Spec
	if s.ClusterIP != leaked.ClusterIP || s.Ports[0].NodePort != leaked.Ports[0].NodePort {
		t.Errorf("%q and %d", s.ClusterIP, s.Ports[0].NodePort)
	}
	*e.clock = time.Now() // the catalog sets the creation time of IPAddresses
	for i := range 5 {
		leak("t" + string(rune('a'+i)))
	}
	if _, failure := e.try("full", nil, registry.WriteOptions{}); !strings.Contains(failure, "range is full") {
		t.Errorf("failure %q", failure)
	}
	*e.clock = e.clock.Add(5 * time.Minute)
	e.create("full", nil)
}

func TestDeletionRemovesEndpoints(t *testing.T) {
	e := newEnv(t)
	e.create("s", nil)
	e.Create("endpoints", &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "s"}})
	e.remove("s")
	if _, err := e.Store("endpoints").Get(t.Context(), "x", "s", ""); err == nil {
		t.Error("the endpoints still exist")
	}
}

// An update of the status ignores the spec.
func TestStatusAllocatesNothing(t *testing.T) {
	e := newEnv(t)
	before := e.create("s", nil).Spec.ClusterIPs
	_, err := e.Store("services").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "s", Subresource: "status",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			return registrytest.Change(current.(*corev1.Service), func(s *corev1.Service) { nodePort(30001)(&s.Spec) }), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.expect("after a write of the status", before, nil)
	if _, failure := e.try("b", nodePort(30001), registry.WriteOptions{}); failure != "" {
		t.Error(failure)
	}
}
