package integration_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// allocations tracks the services that use each address and node port, event by event.
type allocations struct {
	t       *testing.T
	service map[string]string // by address or port
}

// allocatedTo returns the addresses and node ports of a service.
func allocatedTo(s *corev1.Service) []string {
	list := slices.DeleteFunc(slices.Clone(s.Spec.ClusterIPs), func(ip string) bool { return ip == corev1.ClusterIPNone })
	for _, p := range s.Spec.Ports {
		if p.NodePort != 0 {
			list = append(list, fmt.Sprint("port ", p.NodePort))
		}
	}
	return list
}

// set replaces the addresses and ports of a service. It fails the test if another service has one
// of them.
func (a *allocations) set(s *corev1.Service, values []string) {
	name := s.Namespace + "/" + s.Name
	maps.DeleteFunc(a.service, func(_, service string) bool { return service == name })
	for _, value := range values {
		if other, used := a.service[value]; used {
			a.t.Errorf("%s and %s use %s at revision %s", other, name, value, s.ResourceVersion)
		}
		a.service[value] = name
	}
}

// follow tracks events until the deletion of the service named end.
func (a *allocations) follow(services watch.Interface, end string) {
	defer services.Stop()
	for event := range services.ResultChan() {
		s, ok := event.Object.(*corev1.Service)
		switch {
		case !ok:
			a.t.Errorf("event %v", event)
			return
		case event.Type != "DELETED":
			a.set(s, allocatedTo(s))
		case s.Name == end:
			return
		default:
			a.set(s, nil)
		}
	}
	a.t.Error("the watch has ended")
}

// Many clients of two servers create, change and delete services at the same time. No address or
// port is ever allocated twice, and all are free at the end.
func TestAddressesAndPortsAreAllocatedOnce(t *testing.T) {
	const workers, rounds = 8, 12
	// Small ranges, which run out at times.
	config := miniapi.Config{
		ServiceClusterIPRange: "10.0.0.0/28", ServiceNodePortRange: "30000-30007",
		EtcdListenClientURLs: []string{"http://127.0.0.1:0"},
	}
	first := servertest.Start(t, config)
	config.EtcdServers, config.EtcdListenClientURLs = first.EtcdClientURLs(), nil
	clients := []*kubernetes.Clientset{clientset(t, first), clientset(t, servertest.Start(t, config))}
	tracked := &allocations{t: t, service: map[string]string{}}
	var watching, working sync.WaitGroup
	events, err := clients[0].CoreV1().Services("").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	watching.Go(func() { tracked.follow(events, "end") })
	for worker := range workers {
		working.Go(func() {
			for range rounds {
				liveService(t, clients, fmt.Sprintf("s%d", worker))
			}
		})
	}
	working.Wait()
	end := newService("end", corev1.ServiceTypeClusterIP)
	services := clients[1].CoreV1().Services("default")
	_, err = services.Create(t.Context(), end, metav1.CreateOptions{})
	check(t, err)
	check(t, services.Delete(t.Context(), "end", metav1.DeleteOptions{}))
	watching.Wait()
	expectAllFree(t, first)
}

func newService(name string, kind corev1.ServiceType) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
		Type: kind, Ports: []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81}}, ExternalName: "a.b",
	}}
}

// liveService creates a service, changes its type and deletes it, each on a random server. Some
// services request an address or port that may be in use.
func liveService(t *testing.T, clients []*kubernetes.Clientset, name string) {
	ctx := t.Context()
	on := func() kubernetes.Interface { return clients[rand.IntN(len(clients))] }
	kinds := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName}
	service := newService(name, kinds[rand.IntN(3)])
	switch rand.IntN(3) {
	case 0:
		service.Spec.ClusterIP = fmt.Sprintf("10.0.0.%d", 2+rand.IntN(12))
	case 1:
		if service.Spec.Type != corev1.ServiceTypeClusterIP {
			service.Spec.Ports[0].NodePort = int32(30000 + rand.IntN(8))
		}
	}
	if _, err := on().CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{}); err != nil {
		if !isShortage(err) {
			t.Error(err)
		}
		return
	}
	patch := fmt.Appendf(nil, `{"spec":{"type":%q}}`, kinds[rand.IntN(len(kinds))])
	if _, err := on().CoreV1().Services("default").Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil && !isShortage(err) {
		t.Error(err)
	}
	if err := on().CoreV1().Services("default").Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// isShortage reports whether a requested address or port is in use, or none is free.
func isShortage(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsInternalError(err) }

func expectAllFree(t *testing.T, server *miniapi.Server) {
	t.Helper()
	addresses, err := clientset(t, server).NetworkingV1().IPAddresses().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(addresses.Items) != 1 || addresses.Items[0].Spec.ParentRef.Name != "kubernetes" {
		t.Errorf("addresses %v", addresses.Items)
	}
	// These services use all ports: if one were still allocated, a create would fail.
	services := clientset(t, server).CoreV1().Services("default")
	for i := range 4 {
		_, err := services.Create(t.Context(), newService(fmt.Sprint("last", i), corev1.ServiceTypeNodePort), metav1.CreateOptions{})
		check(t, err)
	}
	allocation, err := server.EtcdClient().Get(t.Context(), "/registry/ranges/servicenodeports", clientv3.WithCountOnly())
	check(t, err)
	if allocation.Count != 1 {
		t.Error("the allocated ports are not stored in this key")
	}
}
