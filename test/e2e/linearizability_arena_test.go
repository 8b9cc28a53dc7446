package e2e_test

import (
	"cmp"
	"context"
	"flag"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/storage/embedded"
)

var seed = flag.Uint64("seed", 0, "seed of what clients do; 0: any, which is logged")

// remoteDelay delays the responses of etcd to a remote server.
const remoteDelay = 2 * time.Millisecond

// cutEvery is the number of disturbances between two cuts of lossy links.
const cutEvery = 120

// arena is a set of servers for concurrent clients.
type arena struct {
	servers []*miniapi.Server
	// etcd is a client of the etcd behind the servers.
	etcd *clientv3.Client
	// links connect the servers with etcd. Lossy links are cut at times, which makes requests fail.
	links []*link
	lossy bool
}

// configMaps is a client of the ConfigMaps of a namespace at one server.
type configMaps = typedcorev1.ConfigMapInterface

// inArenas runs a test with one server, and with two servers of one etcd: both local, one of them
// remote with delayed responses, and both with lossy connections.
func inArenas(t *testing.T, test func(*testing.T, *arena, rand.Source)) {
	for _, kind := range []struct {
		name  string
		start func(*testing.T) *arena
	}{
		{"embedded", startAlone},
		{"two servers", func(t *testing.T) *arena { return startReplicas(t, 0, 0) }},
		{"one far off", func(t *testing.T) *arena { return startReplicas(t, 0, remoteDelay) }},
		{"links cut", startLossy},
	} {
		t.Run(kind.name, func(t *testing.T) {
			seed := cmp.Or(*seed, rand.Uint64())
			t.Logf("repeat with -seed %d", seed) // the order of concurrent requests is not repeatable
			test(t, kind.start(t), rand.NewPCG(seed, 0))
		})
	}
}

func startAlone(t *testing.T) *arena {
	t.Helper()
	server := servertest.Start(t, miniapi.Config{})
	return &arena{servers: []*miniapi.Server{server}, etcd: server.EtcdClient()}
}

// startReplicas starts a server for each delay of the responses of etcd.
func startReplicas(t *testing.T, delays ...time.Duration) *arena {
	t.Helper()
	etcd, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	check(t, err)
	t.Cleanup(func() {
		if err := etcd.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	a := &arena{etcd: etcd.Client()}
	for _, delay := range delays {
		l := newLink(t, etcd.ClientURLs()[0], delay)
		a.links = append(a.links, l)
		a.servers = append(a.servers, servertest.Start(t, miniapi.Config{EtcdServers: []string{l.url()}}))
	}
	return a
}

func startLossy(t *testing.T) *arena {
	t.Helper()
	a := startReplicas(t, 0, remoteDelay)
	a.lossy = true
	return a
}

// namespaces creates a namespace and returns clients of its ConfigMaps at each server.
func (a *arena) namespaces(t *testing.T, name string) (servers []configMaps) {
	t.Helper()
	for i, server := range a.servers {
		clientset := newClientset(t, withoutRetries(&rest.Config{Host: server.URL(), QPS: -1}))
		if i == 0 {
			createNamespace(t, clientset, name)
		}
		servers = append(servers, clientset.CoreV1().ConfigMaps(name))
	}
	return servers
}

func createNamespace(t *testing.T, clientset *kubernetes.Clientset, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := clientset.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	check(t, err)
}

// withoutRetries disables the retries of a client. A retry would hide the effect of the first
// attempt from the history.
func withoutRetries(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err == nil {
				resp.Header.Del("Retry-After")
			}
			return resp, err
		})
	})
	return config
}

// disturb writes a key outside the prefix of the servers for each tick, which raises the revision
// of etcd, and cuts lossy links at times.
func (a *arena) disturb(ctx context.Context, ticks <-chan struct{}) error {
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
		if _, err := a.etcd.Put(ctx, "/elsewhere", "value"); err != nil && ctx.Err() == nil {
			return err
		}
		if a.lossy && n%cutEvery == 0 {
			for _, l := range a.links {
				l.cut()
			}
		}
	}
}

// random returns a separate source for one goroutine.
func random(source rand.Source) *rand.Rand { return rand.New(rand.NewPCG(source.Uint64(), 0)) }
