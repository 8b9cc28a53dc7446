package serviceip_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/storagetest"
)

// Answers of etcd are lost at random, also to writes of allocations and quotas. In the end exactly
// the addresses and ports of the stored services must be allocated.
func TestLostAnswers(t *testing.T) {
	e := newEnv(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	quota := e.Create("resourcequotas", &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "q"}}).(*corev1.ResourceQuota)
	e.setStatus(quota, corev1.ResourceQuotaStatus{
		Hard: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("1000")},
		Used: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("0")},
	})
	end := storagetest.LoseAnswers(e.Client, 0.15, seed)
	var workers sync.WaitGroup
	for worker := range 4 {
		random := rand.New(rand.NewPCG(seed, uint64(worker)))
		workers.Go(func() {
			for i := range 12 {
				e.runLifecycle(random, fmt.Sprintf("s%d-%d", worker, i))
			}
		})
	}
	workers.Wait()
	end()
	e.EndTransactions()
	e.expectConsistent()
}

func (e env) setStatus(quota *corev1.ResourceQuota, status corev1.ResourceQuotaStatus) {
	e.Helper()
	_, err := e.Store("resourcequotas").Update(e.Context(), registry.UpdateRequest{
		Namespace: quota.Namespace, Name: quota.Name, Subresource: "status",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject().(*corev1.ResourceQuota)
			next.Status = status
			return next, nil
		},
	})
	if err != nil {
		e.Fatal(err)
	}
}

// runLifecycle creates, updates and deletes a service, and creates a ConfigMap. Any write may fail.
func (e env) runLifecycle(random *rand.Rand, name string) {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name}}
	_, _ = e.Store("configmaps").Create(e.Context(), registry.CreateRequest{Namespace: "x", Object: c})
	to := func(s *corev1.ServiceSpec) {
		kinds := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName}
		if s.Type, s.ExternalName = kinds[random.IntN(len(kinds))], ""; s.Type == corev1.ServiceTypeExternalName {
			s.ExternalName = "a.b"
		}
	}
	e.try(name, to, registry.WriteOptions{})
	for range random.IntN(3) {
		e.change(name, to)
	}
	if random.IntN(2) == 0 {
		_, _ = e.Store("services").Delete(e.Context(), registry.DeleteRequest{Namespace: "x", Name: name})
	}
}

// expectConsistent compares allocations and quota usage with the stored objects.
func (e env) expectConsistent() {
	e.Helper()
	services, err := registry.ReadAll[*corev1.Service](e.Context(), e.Store("services"), registry.ListRequest{})
	if err != nil {
		e.Fatal(err)
	}
	var addresses []string
	ports := map[int]bool{}
	for _, s := range services {
		addresses = append(addresses, s.Spec.ClusterIPs...)
		for _, p := range s.Spec.Ports {
			if p.NodePort != 0 {
				ports[int(p.NodePort)] = true
			}
		}
	}
	slices.Sort(addresses)
	e.expect("addresses and ports of services", addresses, slices.Sorted(maps.Keys(ports)))
	configMaps, err := registry.ReadAll[*corev1.ConfigMap](e.Context(), e.Store("configmaps"), registry.ListRequest{})
	if err != nil {
		e.Fatal(err)
	}
	used := e.Get("resourcequotas", "x", "q").(*corev1.ResourceQuota).Status.Used[corev1.ResourceConfigMaps]
	if used.Value() != int64(len(configMaps)) {
		e.Errorf("the quota counts %v of %d ConfigMaps", &used, len(configMaps))
	}
	e.Logf("%d services, %d ConfigMaps", len(services), len(configMaps))
}
