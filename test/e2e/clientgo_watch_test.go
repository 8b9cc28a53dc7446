package e2e_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// change is a change of a ConfigMap as an informer's handler receives it.
type change struct {
	event   watch.EventType
	name    string
	version string
}

// inform starts a shared informer that sends its changes to the channel.
func inform(t *testing.T, clientset kubernetes.Interface) (cache.SharedIndexInformer, <-chan change) {
	t.Helper()
	changes := make(chan change, 10000)
	report := func(event watch.EventType, obj any) {
		config := obj.(*corev1.ConfigMap)
		changes <- change{event, config.Name, config.ResourceVersion}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { report(watch.Added, obj) },
		UpdateFunc: func(_, obj any) { report(watch.Modified, obj) },
		DeleteFunc: func(obj any) { report(watch.Deleted, obj) },
	})
	check(t, err)
	background(t, func(ctx context.Context) error {
		factory.Start(ctx.Done())
		<-ctx.Done()
		factory.Shutdown()
		return nil
	})
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the informer did not sync")
	}
	return informer, changes
}

func TestInformerStreamsItsList(t *testing.T) {
	server, seen := servertest.Start(t, miniapi.Config{}), &wire{}
	clientset := newClientset(t, seen.tap(server.RESTConfig()))
	configMaps := clientset.CoreV1().ConfigMaps(namespace)
	before, err := configMaps.Create(t.Context(), newConfigMap("before"), metav1.CreateOptions{})
	check(t, err)
	seen.take()
	informer, changes := inform(t, clientset)
	requests, _ := seen.take()
	if len(requests) != 1 || !strings.Contains(requests[0], "sendInitialEvents=true") {
		t.Errorf("the informer sent %v, want one watch that streams the list", requests)
	}
	if informer.LastSyncResourceVersion() != before.ResourceVersion {
		t.Errorf("synced at %s, the last write was %s", informer.LastSyncResourceVersion(), before.ResourceVersion)
	}
	patched, err := configMaps.Patch(t.Context(), "before", types.MergePatchType, []byte(`{"data":{"n":"1"}}`), metav1.PatchOptions{})
	check(t, err)
	check(t, configMaps.Delete(t.Context(), "before", metav1.DeleteOptions{}))
	for _, want := range []change{
		{watch.Added, "before", before.ResourceVersion},
		{watch.Modified, "before", patched.ResourceVersion},
	} {
		if got := receive(t, changes); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	gone := receive(t, changes)
	if gone.event != watch.Deleted || number(t, gone.version) != number(t, patched.ResourceVersion)+1 {
		t.Errorf("got %v, want the deletion at a revision after %s", gone, patched.ResourceVersion)
	}
}

func TestInformersSeeEveryCreateOnce(t *testing.T) {
	const count = 5000
	server := servertest.Start(t, miniapi.Config{})
	early := newClientset(t, server.RESTConfig())
	_, first := inform(t, early)
	createMany(t, early, count)
	_, second := inform(t, newClientset(t, server.RESTConfig())) // from the list
	for name, changes := range map[string]<-chan change{"watching": first, "listing": second} {
		seen := map[string]int{}
		for range count {
			c := receive(t, changes)
			if c.event != watch.Added {
				t.Fatalf("%s: %v", name, c)
			}
			seen[c.name]++
		}
		if len(seen) != count || len(changes) != 0 {
			t.Errorf("%s: %d objects seen, %d more events", name, len(seen), len(changes))
		}
	}
}

func TestUntilWithSync(t *testing.T) {
	clientset := newClientset(t, servertest.Start(t, miniapi.Config{}).RESTConfig())
	configMaps := clientset.CoreV1().ConfigMaps(namespace)
	_, err := configMaps.Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	check(t, err)
	lw := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", namespace, fields.OneTermEqualSelector("metadata.name", "a"))
	event, err := toolswatch.UntilWithSync(t.Context(), lw, &corev1.ConfigMap{},
		func(store cache.Store) (bool, error) {
			// The informer has synced; make the change that the condition waits for.
			_, err := configMaps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"n":"done"}}`), metav1.PatchOptions{})
			return false, err
		},
		func(event watch.Event) (bool, error) {
			return event.Object.(*corev1.ConfigMap).Data["n"] == "done", nil
		})
	check(t, err)
	if event.Type != watch.Modified && event.Type != watch.Added {
		t.Errorf("ended with %+v", event)
	}
}

// TestWatchResumes cuts the connection of a watch repeatedly. The watch continues from its last
// resourceVersion and neither misses nor repeats a change.
func TestWatchResumes(t *testing.T) {
	server, cable := servertest.Start(t, miniapi.Config{}), &cable{}
	broken := newClientset(t, cable.through(server.RESTConfig()))
	writer := newClientset(t, server.RESTConfig()).CoreV1().ConfigMaps(namespace)
	config, err := writer.Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	check(t, err)
	lw := cache.NewListWatchFromClient(broken.CoreV1().RESTClient(), "configmaps", namespace, fields.OneTermEqualSelector("metadata.name", "a"))
	watcher, err := toolswatch.NewRetryWatcherWithContext(t.Context(), config.ResourceVersion, lw)
	check(t, err)
	defer func() { watcher.Stop(); <-watcher.Done() }()
	for n := 1; n <= 30; n++ {
		config.Data["n"] = strconv.Itoa(n)
		config, err = writer.Update(t.Context(), config, metav1.UpdateOptions{})
		check(t, err)
		event := receive(t, watcher.ResultChan())
		got, ok := event.Object.(*corev1.ConfigMap)
		if !ok || got.Data["n"] != strconv.Itoa(n) {
			t.Fatalf("change %d: got %v", n, event)
		}
		if n%10 == 0 {
			cable.cut()
		}
	}
	if len(cable.cuts) == 0 {
		t.Error("no connection was ever cut")
	}
}

// When the server stops, its watches end without an error event or a partial one.
func TestWatchEndsWithTheServer(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	clientset := newClientset(t, server.RESTConfig())
	watching, err := clientset.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	check(t, server.Stop(t.Context()))
	if event, ok := <-watching.ResultChan(); ok {
		t.Errorf("the watch ended with %+v, want a clean end", event)
	}
}

func number(t *testing.T, version string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(version, 10, 64)
	check(t, err)
	return n
}

// cable dials the connections of a client and can cut them.
type cable struct {
	mu    sync.Mutex
	conns []net.Conn
	cuts  []string
}

func (c *cable) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.conns = append(c.conns, conn)
		}
		return conn, err
	}
	return config
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range slices.Values(c.conns) {
		if conn.Close() == nil {
			c.cuts = append(c.cuts, conn.LocalAddr().String())
		}
	}
	c.conns = nil
}
