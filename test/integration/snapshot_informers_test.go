package integration_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestInformersSurviveRestores(t *testing.T) {
	const watchers, rounds = 32, 5
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	for i := range 50 {
		createConfigMap(t, client, fmt.Sprint("kept-", i))
	}
	snapshot := takeSnapshot(t, server)
	caches := startConfigMapListers(t, client, watchers)
	for round := range rounds {
		for i := range 20 {
			deleteConfigMap(t, client, fmt.Sprint("kept-", i))
			createConfigMap(t, client, fmt.Sprint("new-", round, "-", i))
			updateConfigMap(t, client, fmt.Sprint("kept-", 20+i), fmt.Sprint(round))
		}
		check(t, server.Restore(t.Context(), snapshot))
	}
	createConfigMap(t, client, "last") // the last event
	requireEqual(t, caches, contents(t, client), "last")
}

// TestInformersSurviveForkAndReset forks and resets a server with open watches again and again.
// Each informer, of the server and of the forks, ends equal to a list of its server.
func TestInformersSurviveForkAndReset(t *testing.T) {
	const watchers, rounds = 32, 5
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	caches := startConfigMapListers(t, client, watchers)
	for round := range rounds {
		for i := range 20 {
			createConfigMap(t, client, fmt.Sprint("new-", round, "-", i))
			updateConfigMap(t, client, fmt.Sprint("new-", round, "-", i), "value")
		}
		fork, err := server.Fork(t.Context())
		check(t, err)
		forked := clientset(t, fork)
		inFork := startConfigMapListers(t, forked, 4)
		check(t, server.Reset(t.Context(), miniapi.ResetOptions{}))
		for i := range 10 {
			deleteConfigMap(t, forked, fmt.Sprint("new-", round, "-", i))
		}
		createConfigMap(t, forked, "last")
		requireEqual(t, inFork, contents(t, forked), "last")
		if got := len(contents(t, forked)); got != 11 {
			t.Errorf("the fork of round %d has %d ConfigMaps, want 11", round, got)
		}
		check(t, servertest.Stop(fork))
	}
	createConfigMap(t, client, "last")
	requireEqual(t, caches, contents(t, client), "last")
}

// startConfigMapListers starts informers of the namespace default, which end with the test.
func startConfigMapListers(t *testing.T, client kubernetes.Interface, n int) []listers.ConfigMapLister {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	factories, caches := make([]informers.SharedInformerFactory, n), make([]listers.ConfigMapLister, n)
	for i := range factories {
		factories[i] = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
		caches[i] = factories[i].Core().V1().ConfigMaps().Lister()
		factories[i].Start(ctx.Done())
	}
	t.Cleanup(func() { // before the server stops
		cancel()
		for _, factory := range factories {
			factory.Shutdown()
		}
	})
	for _, factory := range factories {
		factory.WaitForCacheSync(ctx.Done())
	}
	return caches
}

// requireEqual waits until informers have the object that was created last, and compares their
// content with the list of the server.
func requireEqual(t *testing.T, caches []listers.ConfigMapLister, want map[string]string, last string) {
	t.Helper()
	for i, cache := range caches {
		await(t, func() bool {
			_, err := cache.ConfigMaps("default").Get(last)
			return err == nil
		})
		list, err := cache.List(labels.Everything())
		check(t, err)
		var items []corev1.ConfigMap
		for _, item := range list {
			items = append(items, *item)
		}
		if diff := cmp.Diff(want, contentsOf(items)); diff != "" {
			t.Errorf("informer %d differs from a list: %s", i, diff)
		}
	}
}
