package serviceip_test

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a catalog of the built-in kinds with an allocator.
type env struct {
	*registrytest.Env
	clock *time.Time
}

func newEnv(t *testing.T, ranges ...string) env {
	t.Helper()
	if len(ranges) == 0 {
		ranges = []string{"10.0.0.0/24"}
	}
	e := env{clock: new(time.Now())}
	config := serviceip.Config{NodePorts: utilnet.PortRange{Base: 30000, Size: 20}, Now: func() time.Time { return *e.clock }}
	for _, r := range ranges {
		config.ServiceRanges = append(config.ServiceRanges, netip.MustParsePrefix(r))
	}
	e.Env = registrytest.NewHooked(t, registry.Chain{plugin.ResourceQuota(nil)}, "services", serviceip.New(config).Hooks(), kinds.Resources(feature.Default())...)
	return e
}

// newService returns a service with one port.
func newService(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}, Selector: map[string]string{"a": "b"}},
	}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

func (e env) create(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	e.Helper()
	return e.Create("services", newService(name, change)).(*corev1.Service)
}

// try creates a service, and returns it or the error text.
func (e env) try(name string, change func(*corev1.ServiceSpec), options registry.WriteOptions) (*corev1.Service, string) {
	e.Helper()
	s := newService(name, change)
	e.Default("services", s)
	result, err := e.Store("services").Create(e.Context(), registry.CreateRequest{Namespace: "x", Object: s, Options: options})
	if err != nil {
		return nil, err.Error()
	}
	return registrytest.Object(result.Entry).(*corev1.Service), ""
}

// change updates a service, and returns it or the error text.
func (e env) change(name string, change func(*corev1.ServiceSpec)) (*corev1.Service, string) {
	e.Helper()
	result, err := e.Store("services").Update(e.Context(), registry.UpdateRequest{
		Namespace: "x", Name: name,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			s := current.DeepCopyObject().(*corev1.Service)
			change(&s.Spec)
			e.Default("services", s)
			return s, nil
		},
	})
	if err != nil {
		return nil, err.Error()
	}
	return registrytest.Object(result.Entry).(*corev1.Service), ""
}

func (e env) remove(name string) {
	e.Helper()
	if _, err := e.Store("services").Delete(e.Context(), registry.DeleteRequest{Namespace: "x", Name: name}); err != nil {
		e.Fatal(err)
	}
}

// addresses returns the allocated addresses.
func (e env) addresses() []string {
	e.Helper()
	page, err := e.Store("ipaddresses.networking.k8s.io").List(e.Context(), registry.ListRequest{})
	if err != nil {
		e.Fatal(err)
	}
	var names []string
	for _, entry := range page.Entries {
		obj, err := entry.Object()
		if err != nil {
			e.Fatal(err)
		}
		names = append(names, registrytest.Meta(obj).GetName())
	}
	return names
}

// ports returns the allocated ports.
func (e env) ports() []int {
	e.Helper()
	entry, err := e.Catalog.Storage(serviceip.RangeAllocationCodec()).Get(e.Context(), "/ranges/servicenodeports", storage.GetOptions{})
	if err != nil {
		e.Fatal(err)
	}
	obj, err := entry.Object()
	if err != nil {
		e.Fatal(err)
	}
	return serviceip.Ports(obj.(*corev1.RangeAllocation))
}

// expect checks the allocated addresses and, unless nil, the allocated ports.
func (e env) expect(rule string, addresses []string, ports []int) {
	e.Helper()
	if got := e.addresses(); !slices.Equal(got, addresses) {
		e.Errorf("%s: addresses %q, want %q", rule, got, addresses)
	}
	if ports == nil {
		return
	}
	if got := e.ports(); !slices.Equal(got, ports) {
		e.Errorf("%s: ports %v, want %v", rule, got, ports)
	}
}

func nodePort(ports ...int32) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) {
		s.Type = corev1.ServiceTypeNodePort
		for i, port := range ports {
			s.Ports[i].NodePort = port
		}
	}
}

func dry() registry.WriteOptions { return registry.WriteOptions{DryRun: true} }
