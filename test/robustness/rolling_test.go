package robustness_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/test/robustness/cluster"
)

// TestRollingRestart restarts each of three members and two replicas, one after the other, and
// waits for each with the command of docs/etcd-cluster.md. No client may fail. Their connections go
// to any replica that accepts them.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	topology := startCluster(t)
	balancer, err := topology.NewBalancer()
	check(t, err)
	t.Cleanup(balancer.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: balancer.URL(), QPS: -1})
	check(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	writers := make([]rollingWriter, 4)
	for n := range writers {
		writers[n] = rollingWriter{clients: clients, name: fmt.Sprintf("writer-%d", n)}
		running.Go(func() { writers[n].run(ctx) }) // ends with ctx
	}
	tools := t.TempDir()
	check(t, cluster.WriteTools(tools, *etcd))
	for _, m := range topology.Members {
		check(t, m.Stop())
		check(t, m.Restart(ctx))
		awaitHealthy(t, filepath.Join(tools, "etcdctl"), "--endpoints", m.ClientURL, "endpoint", "health")
	}
	for _, s := range topology.Servers {
		check(t, s.Stop())
		check(t, s.Start())
		awaitHealthy(t, program(t), "healthcheck", s.URL)
	}
	stop()
	running.Wait()
	for _, w := range writers {
		check(t, w.err)
		t.Logf("%s: %d requests, %d without a response", w.name, 4*w.written, w.broken)
	}
}

// awaitHealthy waits until a command succeeds.
func awaitHealthy(t *testing.T, name string, args ...string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; {
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
		}
	}
}

// startCluster starts three members and two replicas. Members elect another leader only if the
// leader stops, not if the machine does not run it for a while: a write at that time would fail.
func startCluster(t *testing.T) *cluster.Topology {
	t.Helper()
	topology, err := cluster.Start(t.Context(), cluster.Config{
		Program: program(t), Dir: t.TempDir(), Members: 3, Replicas: 2, Etcd: *etcd, ElectionTimeout: 10 * time.Second,
	})
	check(t, err)
	t.Cleanup(topology.Close)
	return topology
}

// rollingWriter creates, updates and deletes an object until its context ends or a request fails.
type rollingWriter struct {
	clients kubernetes.Interface
	name    string
	written int
	broken  int // requests without a response
	err     error
}

func (w *rollingWriter) run(ctx context.Context) {
	for ctx.Err() == nil && w.err == nil {
		w.err = w.write(context.WithoutCancel(ctx))
	}
}

func (w *rollingWriter) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	secrets := w.clients.CoreV1().Secrets(metav1.NamespaceDefault)
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	err := w.request("create", apierrors.IsAlreadyExists, func() (err error) {
		_, err = secrets.Create(ctx, object, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	if object, err = secrets.Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return fmt.Errorf("get: %w", err)
	}
	object.Labels = map[string]string{"written": "true"}
	err = w.request("update", apierrors.IsConflict, func() (err error) {
		_, err = secrets.Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	w.written++
	return w.request("delete", apierrors.IsNotFound, func() error {
		return secrets.Delete(ctx, w.name, metav1.DeleteOptions{})
	})
}

// request sends a write, again if its connection broke before a response: a server that ends closes
// its idle connections, at times while a client sends a request. The write may have happened then,
// so its repetition may fail with an error that done recognizes.
func (w *rollingWriter) request(verb string, done func(error) bool, send func() error) error {
	for broken := false; ; broken = true {
		err := send()
		var status apierrors.APIStatus
		switch {
		case err == nil || broken && done(err):
			return nil
		case errors.As(err, &status) || errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("%s %s the %d. time: %w", verb, w.name, w.written, err)
		}
		w.broken++
	}
}
