package integration_test

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/freeport"
	"github.com/miniapi/miniapi/internal/servertest"
)

// awaitLease waits for an identity lease that meets a condition.
func awaitLease(t *testing.T, client kubernetes.Interface, met func(*coordinationv1.Lease) bool) *coordinationv1.Lease {
	t.Helper()
	watcher, err := client.CoordinationV1().Leases("kube-system").Watch(t.Context(), metav1.ListOptions{
		LabelSelector: "apiserver.kubernetes.io/identity=kube-apiserver",
	})
	check(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if lease, ok := event.Object.(*coordinationv1.Lease); ok && met(lease) {
			return lease
		}
	}
	t.Fatal("the watch has ended")
	return nil
}

func anyLease(*coordinationv1.Lease) bool { return true }

// Each start renews the identity lease, and deletes the expired leases of servers that have ended.
func TestIdentityLease(t *testing.T) {
	config := miniapi.Config{Bootstrap: bootstrap.Full, DataDir: t.TempDir(), Secure: &miniapi.Secure{Listen: freeAddressOf(t, "127.0.0.1")}}
	var first *coordinationv1.Lease
	run(t, config, func(_ *miniapi.Server, client kubernetes.Interface) {
		first = awaitLease(t, client, anyLease)
		if first.Spec.HolderIdentity == nil || *first.Spec.LeaseDurationSeconds != 3600 || first.Labels[corev1.LabelHostname] == "" {
			t.Errorf("lease %v", first)
		}
		expired := first.DeepCopy()
		expired.ObjectMeta = metav1.ObjectMeta{Name: "apiserver-expired", Labels: first.Labels}
		expired.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * time.Hour)}
		_, err := client.CoordinationV1().Leases("kube-system").Create(t.Context(), expired, metav1.CreateOptions{})
		check(t, err)
	})
	run(t, config, func(server *miniapi.Server, client kubernetes.Interface) {
		awaitLease(t, client, func(lease *coordinationv1.Lease) bool {
			return lease.Name == first.Name && *lease.Spec.HolderIdentity != *first.Spec.HolderIdentity && lease.Spec.RenewTime.After(first.Spec.RenewTime.Time)
		})
		for {
			_, err := client.CoordinationV1().Leases("kube-system").Get(t.Context(), "apiserver-expired", metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				break
			}
			check(t, err)
		}
		objects, err := server.ObjectNames(t.Context())
		check(t, err)
		if slices.ContainsFunc(objects, func(o miniapi.ObjectNames) bool { return o.Resource == "leases.coordination.k8s.io" }) {
			t.Errorf("the identity lease is no object of the user: %v", objects)
		}
	})
}

// A server that other hosts reach has endpoints, and they follow its port.
func TestEndpointsOfTheServer(t *testing.T) {
	host := hostAddress(t)
	config := miniapi.Config{Bootstrap: bootstrap.Full, DataDir: t.TempDir()}
	for range 2 {
		config.Secure = &miniapi.Secure{Listen: freeAddressOf(t, host)}
		run(t, config, func(_ *miniapi.Server, client kubernetes.Interface) { checkEndpoints(t, client, config.Secure.Listen) })
	}
}

// checkEndpoints waits until the objects of the Service default/kubernetes name an address.
func checkEndpoints(t *testing.T, client kubernetes.Interface, address string) {
	t.Helper()
	watcher, err := client.DiscoveryV1().EndpointSlices("default").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		slice := event.Object.(*discoveryv1.EndpointSlice)
		if net.JoinHostPort(slice.Endpoints[0].Addresses[0], decimal(*slice.Ports[0].Port)) == address {
			break
		}
	}
	for {
		endpoints, err := client.CoreV1().Endpoints("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		check(t, err)
		service, err := client.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		check(t, err)
		subset := endpoints.Subsets[0]
		if len(subset.Addresses) != 1 || len(endpoints.Subsets) != 1 {
			t.Fatalf("subsets %v", endpoints.Subsets)
		}
		if net.JoinHostPort(subset.Addresses[0].IP, decimal(subset.Ports[0].Port)) == address && service.Spec.Ports[0].TargetPort.IntVal == subset.Ports[0].Port {
			return
		}
	}
}

func decimal(port int32) string { return strconv.Itoa(int(port)) }

// run starts a server, passes a client of it, and stops it. The client uses no proxy of the
// environment, which would not reach this host.
func run(t *testing.T, config miniapi.Config, use func(*miniapi.Server, kubernetes.Interface)) {
	t.Helper()
	server := servertest.Start(t, config)
	direct := rest.CopyConfig(server.RESTConfig())
	direct.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	client, err := kubernetes.NewForConfig(direct)
	check(t, err)
	use(server, client)
	check(t, servertest.Stop(server))
}

// freeAddressOf returns HOST:PORT with a free port of a host.
func freeAddressOf(t *testing.T, host string) string {
	t.Helper()
	addresses, err := freeport.Addresses(host, 1)
	check(t, err)
	return addresses[0]
}

// hostAddress returns an address of this host at which other hosts could reach it.
func hostAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	check(t, err)
	for _, address := range addresses {
		if ip, _, err := net.ParseCIDR(address.String()); err == nil && ip.IsGlobalUnicast() {
			return ip.String()
		}
	}
	t.Skip("this host has loopback addresses only")
	return ""
}
