package integration_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/storage/embedded"
)

// A client that disconnects during a write leaks no quota, address or port.
func TestDisconnectsLeakNothing(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir()}
	server := servertest.Start(t, config)
	client := clientset(t, server)
	createQuota(t, client)
	var clients sync.WaitGroup
	for worker := range 6 {
		clients.Go(func() {
			for i := range 60 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(12000))*time.Microsecond)
				writeSome(ctx, client, fmt.Sprintf("w%d-%d", worker, i))
				cancel()
			}
		})
	}
	clients.Wait()
	check(t, servertest.Stop(server))
	expectNoLeaks(t, servertest.Start(t, config))
}

// A lost response of etcd leaks no quota, address or port.
func TestLostEtcdResponsesLeakNothing(t *testing.T) {
	etcd, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	check(t, err)
	t.Cleanup(func() { check(t, etcd.Close(context.WithoutCancel(t.Context()))) })
	proxy := newProxy(t, strings.TrimPrefix(etcd.ClientURLs()[0], "http://"))
	server := servertest.Start(t, miniapi.Config{EtcdServers: []string{"http://" + proxy.address()}})
	client := clientset(t, server)
	createQuota(t, client)
	var clients sync.WaitGroup
	for worker := range 6 {
		clients.Go(func() {
			for i := range 15 {
				writeSome(t.Context(), client, fmt.Sprintf("w%d-%d", worker, i))
				if rand.IntN(6) == 0 {
					proxy.cut()
				}
			}
		})
	}
	clients.Wait()
	check(t, servertest.Stop(server))
	expectNoLeaks(t, servertest.Start(t, miniapi.Config{EtcdServers: etcd.ClientURLs()}))
}

// writeSome writes objects that are counted by a quota or get addresses and ports. It ignores
// errors.
func writeSome(ctx context.Context, client kubernetes.Interface, name string) {
	services := client.CoreV1().Services("default")
	switch rand.IntN(4) {
	case 0, 1:
		_, _ = client.CoreV1().ConfigMaps("default").Create(ctx, configMap(name), metav1.CreateOptions{})
	case 2:
		_, _ = services.Create(ctx, newService(name, corev1.ServiceTypeNodePort), metav1.CreateOptions{})
	default:
		_, _ = services.Create(context.WithoutCancel(ctx), newService(name, corev1.ServiceTypeNodePort), metav1.CreateOptions{})
		_ = services.Delete(ctx, name, metav1.DeleteOptions{})
	}
}

// createQuota creates a quota that counts ConfigMaps with a limit that is never reached.
func createQuota(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	quotas := client.CoreV1().ResourceQuotas("default")
	hard := corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("1000000")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	created, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{})
	check(t, err)
	created.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("0")}}
	_, err = quotas.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	check(t, err)
}

// expectNoLeaks compares the quota, the IPAddresses and the allocated ports with the stored
// objects.
func expectNoLeaks(t *testing.T, server *miniapi.Server) {
	t.Helper()
	client := clientset(t, server)
	configMaps, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	quota, err := client.CoreV1().ResourceQuotas("default").Get(t.Context(), "q", metav1.GetOptions{})
	check(t, err)
	if used := quota.Status.Used[corev1.ResourceConfigMaps]; used.Value() != int64(len(configMaps.Items)) {
		t.Errorf("the quota counts %v of %d ConfigMaps", &used, len(configMaps.Items))
	}
	services, err := client.CoreV1().Services("").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	claims, err := client.NetworkingV1().IPAddresses().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	var addresses, claimed []string
	ports := []int{}
	for _, s := range services.Items {
		addresses = append(addresses, s.Spec.ClusterIPs...)
		for _, p := range s.Spec.Ports {
			if p.NodePort != 0 {
				ports = append(ports, int(p.NodePort))
			}
		}
	}
	for _, claim := range claims.Items {
		claimed = append(claimed, claim.Name)
	}
	slices.Sort(addresses)
	slices.Sort(claimed)
	slices.Sort(ports)
	if diff := cmp.Diff(addresses, claimed); diff != "" {
		t.Errorf("addresses of %d services (-), IPAddresses (+):\n%s", len(services.Items), diff)
	}
	if diff := cmp.Diff(ports, allocatedPorts(t, server)); diff != "" {
		t.Errorf("node ports of services (-), allocated (+):\n%s", diff)
	}
	t.Logf("%d ConfigMaps, %d services", len(configMaps.Items), len(services.Items))
}

// allocatedPorts decodes the RangeAllocation of node ports in etcd.
func allocatedPorts(t *testing.T, server *miniapi.Server) []int {
	t.Helper()
	resp, err := server.EtcdClient().Get(t.Context(), "/registry/ranges/servicenodeports")
	check(t, err)
	ports := []int{}
	if len(resp.Kvs) == 0 {
		return ports
	}
	var envelope runtime.Unknown
	check(t, envelope.Unmarshal(resp.Kvs[0].Value[len("k8s\x00"):]))
	var allocation corev1.RangeAllocation
	check(t, allocation.Unmarshal(envelope.Raw))
	bits := new(big.Int).SetBytes(allocation.Data)
	var base int
	_, err = fmt.Sscanf(allocation.Range, "%d-", &base)
	check(t, err)
	for i := range bits.BitLen() {
		if bits.Bit(i) == 1 {
			ports = append(ports, base+i)
		}
	}
	return ports
}

// proxy forwards connections to an etcd and can cut them.
type proxy struct {
	listener net.Listener
	upstream string
	running  sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{} // guarded by mu
}

func newProxy(t *testing.T, upstream string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	p := &proxy{listener: listener, upstream: upstream, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.serve)
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		p.running.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// serve accepts connections until the listener is closed.
func (p *proxy) serve() {
	for {
		down, err := p.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", p.upstream)
		if err != nil {
			_ = down.Close()
			continue
		}
		p.mu.Lock()
		p.conns[down], p.conns[up] = struct{}{}, struct{}{}
		p.mu.Unlock()
		p.running.Go(func() { p.forward(down, up) })
		p.running.Go(func() { p.forward(up, down) })
	}
}

// forward copies until one side ends, and closes both.
func (p *proxy) forward(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range []net.Conn{from, to} {
		_ = conn.Close()
		delete(p.conns, conn)
	}
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}
