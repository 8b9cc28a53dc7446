package e2e_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/storage/embedded"
)

var seed = flag.Uint64("seed", 0, "seed of the histories; 0: any, which is logged")

// What a history is made of. The checker has to find an order of it in time.
const (
	histories = 5
	clients   = 6
	requests  = 80
)

// TestLinearizability checks that reads which ask for the latest state, and all
// writes, are answered as if one came after the other, each between its request
// and its answer: whichever server is asked, and although reads are answered
// from memory.
func TestLinearizability(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		checkHistories(t, startServer(t))
	})
	t.Run("two servers of one etcd", func(t *testing.T) {
		checkHistories(t, startReplicas(t)...)
	})
}

// startReplicas returns two servers whose state is in an etcd beside them.
func startReplicas(t *testing.T) []*miniapi.Server {
	t.Helper()
	etcd, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	check(t, err)
	t.Cleanup(func() {
		if err := etcd.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	config := miniapi.Config{EtcdServers: etcd.ClientURLs()}
	return []*miniapi.Server{startServerWith(t, config), startServerWith(t, config)}
}

func checkHistories(t *testing.T, servers ...*miniapi.Server) {
	t.Helper()
	source := newSource(t)
	for n := range histories {
		history := record(t, source, namespaces(t, fmt.Sprintf("history-%d", n), servers))
		checkHistory(t, history)
		if t.Failed() {
			return
		}
	}
}

// newSource returns what all that is random in a test comes from. What runs at
// the same time does so in an order of its own.
func newSource(t *testing.T) rand.Source {
	t.Helper()
	seed := cmp.Or(*seed, rand.Uint64())
	t.Logf("begun with -seed %d", seed)
	return rand.NewPCG(seed, 0)
}

// place is a namespace at one server.
type place struct {
	server     *miniapi.Server
	configMaps typedcorev1.ConfigMapInterface
}

// namespaces makes a namespace and returns it as each of the servers has it.
func namespaces(t *testing.T, name string, servers []*miniapi.Server) []place {
	t.Helper()
	var places []place
	for _, server := range servers {
		clientset := newClientset(t, &rest.Config{Host: server.URL(), QPS: -1})
		if len(places) == 0 {
			createNamespace(t, clientset, name)
		}
		places = append(places, place{server, clientset.CoreV1().ConfigMaps(name)})
	}
	return places
}

func createNamespace(t *testing.T, clientset *kubernetes.Clientset, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := clientset.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	check(t, err)
}

// record lets clients loose on a new namespace and returns what they did.
func record(t *testing.T, source rand.Source, places []place) []porcupine.Operation {
	t.Helper()
	began := time.Now()
	running, ctx := errgroup.WithContext(t.Context())
	var historians []*historian
	for id := range clients {
		h := &historian{id: id, began: began, random: rand.New(rand.NewPCG(source.Uint64(), 0))}
		for _, place := range places {
			h.servers = append(h.servers, place.configMaps)
		}
		historians = append(historians, h)
		running.Go(func() error { return h.run(ctx, requests) })
	}
	running.Go(func() error { return writeElsewhere(ctx, places[0].server) })
	check(t, running.Wait())
	var history []porcupine.Operation
	for _, h := range historians {
		history = append(history, h.history...)
	}
	return closed(history, int64(time.Since(began)))
}

// writeElsewhere moves the revision where the servers do not look.
func writeElsewhere(ctx context.Context, server *miniapi.Server) error {
	for range requests {
		if _, err := server.EtcdClient().Put(ctx, "/elsewhere", "value"); err != nil {
			return err
		}
	}
	return nil
}

// closed returns a history in which requests that nobody waited for last until
// the end: when, and if, they were done is not known.
func closed(history []porcupine.Operation, end int64) []porcupine.Operation {
	for i := range history {
		if history[i].Output.(output).outcome == unknown {
			history[i].Return = end
		}
	}
	settle(history)
	return history
}

// checkHistory fails the test if no order explains a history.
func checkHistory(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	began := time.Now()
	result, info := porcupine.CheckOperationsVerbose(consistent, history, patience)
	switch result {
	case porcupine.Ok:
		t.Logf("%d requests, in order after %v: %s", len(history), time.Since(began).Round(time.Millisecond), tally(history))
	case porcupine.Unknown:
		t.Errorf("no order of %d requests was found within %v, which does not say that there is none: make the histories shorter", len(history), patience)
	default:
		t.Errorf("%d requests cannot be put in order: %s\nsee %s", len(history), misfit(history, info), draw(t, info))
	}
}

// tally says how often there was which outcome.
func tally(history []porcupine.Operation) string {
	count := map[fate]int{}
	for _, operation := range history {
		count[operation.Output.(output).outcome]++
	}
	return fmt.Sprint(count)
}

// misfit describes the first request that does not fit into the longest order.
func misfit(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	longest := slices.MaxFunc(info.PartialLinearizations()[0], func(a, b []int) int { return len(a) - len(b) })
	first := -1
	for i := range history {
		if !slices.Contains(longest, i) && (first < 0 || history[i].Return < history[first].Return) {
			first = i
		}
	}
	return consistent.DescribeOperation(history[first].Input, history[first].Output)
}

// draw returns the name of a file that shows a history.
func draw(t *testing.T, info porcupine.LinearizationInfo) string {
	t.Helper()
	file, err := os.CreateTemp("", "linearizability-*.html")
	check(t, err)
	defer func() { check(t, file.Close()) }()
	check(t, porcupine.Visualize(consistent, info, file))
	return file.Name()
}
