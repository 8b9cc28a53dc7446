package integration_test

import (
	"context"
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
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
)

// tenancy follows who has which address and node port, event by event.
type tenancy struct {
	t      *testing.T
	holder map[string]string // service by what it has
}

// possessions of a service, each once.
func possessions(s *corev1.Service) []string {
	list := slices.DeleteFunc(slices.Clone(s.Spec.ClusterIPs), func(ip string) bool { return ip == corev1.ClusterIPNone })
	for _, p := range s.Spec.Ports {
		if p.NodePort != 0 {
			list = append(list, fmt.Sprint("port ", p.NodePort))
		}
	}
	return list
}

func (h *tenancy) set(s *corev1.Service, has []string) {
	name := s.Namespace + "/" + s.Name
	maps.DeleteFunc(h.holder, func(_, holder string) bool { return holder == name })
	for _, thing := range has {
		if other, taken := h.holder[thing]; taken {
			h.t.Errorf("%s and %s have %s at revision %s", other, name, thing, s.ResourceVersion)
		}
		h.holder[thing] = name
	}
}

// follow holds the events up to the deletion of a service called end.
func (h *tenancy) follow(ctx context.Context, client kubernetes.Interface, end string) {
	watch, err := client.CoreV1().Services("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		h.t.Error(err)
		return
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		s, ok := event.Object.(*corev1.Service)
		switch {
		case !ok:
			h.t.Errorf("event %v", event)
			return
		case event.Type != "DELETED":
			h.set(s, possessions(s))
		case s.Name == end:
			return
		default:
			h.set(s, nil)
		}
	}
	h.t.Error("the watch has ended")
}

// Whatever many clients of two servers do at the same time, no two services ever
// have one address or port, and in the end nothing is lost.
func TestAddressesAndPortsAreNeverDoubled(t *testing.T) {
	const workers, rounds = 8, 12
	// So few that they run out now and then.
	config := miniapi.Config{
		ServiceClusterIPRange: "10.0.0.0/28", ServiceNodePortRange: "30000-30007",
		EtcdListenClientURLs: []string{"http://127.0.0.1:0"},
	}
	first := start(t, config)
	config.EtcdServers, config.EtcdListenClientURLs = first.EtcdClientURLs(), nil
	clients := []*kubernetes.Clientset{clientset(t, first), clientset(t, start(t, config))}
	held := &tenancy{t: t, holder: map[string]string{}}
	var watching, working sync.WaitGroup
	watching.Go(func() { held.follow(t.Context(), clients[0], "end") })
	for worker := range workers {
		working.Go(func() {
			for range rounds {
				lease(t, clients, fmt.Sprintf("s%d", worker))
			}
		})
	}
	working.Wait()
	end := newService("end", corev1.ServiceTypeClusterIP)
	services := clients[1].CoreV1().Services("default")
	_, err := services.Create(t.Context(), end, metav1.CreateOptions{})
	check(t, err)
	check(t, services.Delete(t.Context(), "end", metav1.DeleteOptions{}))
	watching.Wait()
	expectNothingTaken(t, first)
}

func newService(name string, kind corev1.ServiceType) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
		Type: kind, Ports: []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81}}, ExternalName: "a.b",
	}}
}

// lease is the life of a service: it changes its type and goes, each step on
// another server perhaps. Some want what may be taken.
func lease(t *testing.T, clients []*kubernetes.Clientset, name string) {
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

// isShortage: what was asked for is taken, or nothing is left.
func isShortage(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsInternalError(err) }

func expectNothingTaken(t *testing.T, server *miniapi.Server) {
	t.Helper()
	addresses, err := clientset(t, server).NetworkingV1().IPAddresses().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(addresses.Items) != 1 || addresses.Items[0].Spec.ParentRef.Name != "kubernetes" {
		t.Errorf("addresses %v", addresses.Items)
	}
	// One more service than fits would fail if a port was lost.
	services := clientset(t, server).CoreV1().Services("default")
	for i := range 4 {
		_, err := services.Create(t.Context(), newService(fmt.Sprint("last", i), corev1.ServiceTypeNodePort), metav1.CreateOptions{})
		check(t, err)
	}
	account, err := server.EtcdClient().Get(t.Context(), "/registry/ranges/servicenodeports", clientv3.WithCountOnly())
	check(t, err)
	if account.Count != 1 {
		t.Error("ports are accounted for somewhere else")
	}
}
