package waiting_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/faults"
)

// unsettled returns the error of a call of Settle that ends early.
func (e *env) unsettled() string {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), 100*time.Millisecond)
	defer cancel()
	err := e.server.Settle(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Fatalf("Settle returned %v, want the end of its context", err)
	}
	return err.Error()
}

func wantTexts(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func TestSettleReturnsOnAnIdleServer(t *testing.T) {
	e := start(t, miniapi.Config{Controllers: []string{"*"}})
	e.settle()
	e.settle()
}

// After Settle, all events are in the connections of the watches: they are read before the end of
// the connections.
func TestSettleAwaitsAllWatches(t *testing.T) {
	const watches, writers, writes = 32, 4, 50
	e := start(t, miniapi.Config{})
	var received [watches]int
	var readers sync.WaitGroup
	open := make([]watch.Interface, watches)
	for i := range watches {
		w, err := e.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{LabelSelector: fmt.Sprintf("writer!=%d", i%writers)})
		e.check(err)
		open[i] = w
		readers.Go(func() {
			for event := range w.ResultChan() {
				if event.Type == watch.Added {
					received[i]++
				}
			}
		})
	}
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for i := range writes {
				obj := configMap(fmt.Sprintf("w%d-%d", writer, i))
				obj.Labels = map[string]string{"writer": fmt.Sprint(writer)}
				e.createConfigMap(obj)
			}
		})
	}
	writing.Wait()
	e.settle()
	e.check(servertest.Stop(e.server))
	readers.Wait()
	for i, n := range received {
		open[i].Stop()
		if n != (writers-1)*writes {
			t.Errorf("watch %d received %d events, want %d", i, n, (writers-1)*writes)
		}
	}
}

// slowWatch opens a watch of ConfigMaps and does not read.
func (e *env) slowWatch() net.Conn {
	e.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(e.server.URL(), "http://"))
	e.check(err)
	e.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET /api/v1/namespaces/default/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: slow\r\n\r\n")
	e.check(err)
	_, err = conn.Read(make([]byte, 100)) // the watch has begun
	e.check(err)
	return conn
}

func TestSettleNamesAWatchThatIsNotRead(t *testing.T) {
	e := start(t, miniapi.Config{})
	conn := e.slowWatch()
	large := strings.Repeat("x", 1<<19)
	for i := range 20 { // more than the buffers of a connection
		obj := configMap(fmt.Sprintf("large-%d", i))
		obj.Data = map[string]string{"key": large}
		e.createConfigMap(obj)
	}
	text := e.unsettled()
	wantTexts(t, text, `late watch: watch: GET /api/v1/namespaces/default/configmaps?watch=1 by "slow"`, "sent up to revision", "of 22, ", " changes wait")
	if strings.Contains(text, "open request") {
		t.Errorf("there is no open request, but:\n%s", text)
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, conn) })
	e.settle()
	e.check(conn.Close())
	reading.Wait()
}

func TestSettleNamesAnOpenRequest(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.server.Faults().Latency(faults.On("list", "configmaps"), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		_, _ = e.client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	})
	for len(e.server.OpenRequests()) == 0 {
		runtime.Gosched()
	}
	wantTexts(t, e.unsettled(), "open request: list: GET /api/v1/namespaces/default/configmaps by", "last write: revision")
	cancel()
	writing.Wait()
	e.settle()
}

func TestSettleNamesAWatchThatAFaultHolds(t *testing.T) {
	e := start(t, miniapi.Config{})
	held := e.server.Faults().Watch(faults.On("watch", "configmaps"), faults.Watch{Hold: true})
	w, err := e.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	e.check(err)
	defer w.Stop()
	e.settle()
	e.createConfigMap(configMap("a"))
	wantTexts(t, e.unsettled(), "late watch: watch: GET /api/v1/namespaces/default/configmaps?watch=true")
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	err = e.server.SettleFor(ended, time.Nanosecond)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	wantTexts(t, err.Error(), "late watch")
	held.Remove()
	e.settle()
}

// The revisions of faults are not those of etcd.
func TestSettleDoesNotAwaitWatchesOfFaults(t *testing.T) {
	e := start(t, miniapi.Config{})
	body, err := e.client.RESTClient().Get().AbsPath("/apis/miniapi.dev/v1alpha1/faults").Param("watch", "true").Stream(t.Context())
	e.check(err)
	defer body.Close()
	e.createConfigMap(configMap("a"))
	e.settle()
}

func TestSettleReturnsTheErrorOfEtcd(t *testing.T) {
	e := start(t, miniapi.Config{})
	_, err := e.server.Faults().Add(faults.Fault{Effect: faults.Effect{Etcd: &faults.Etcd{Unavailable: true}}})
	e.check(err)
	if err := e.server.Settle(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("error %v, want %v", err, storage.ErrUnavailable)
	}
}

// Controllers and pods act until the Deployment is complete.
func TestSettleAwaitsTheBuiltInControllers(t *testing.T) {
	e := start(t, miniapi.Config{Controllers: []string{"*", "deployment", "replicaset"}, Pods: miniapi.PodsInstant})
	const replicas = 10
	deployments := e.client.AppsV1().Deployments("default")
	_, err := deployments.Create(t.Context(), deployment("web", replicas), metav1.CreateOptions{})
	e.check(err)
	e.settle()
	web, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	e.check(err)
	if web.Status.ReadyReplicas != replicas || web.Status.ObservedGeneration != 1 {
		t.Errorf("status %+v, want %d ready replicas", web.Status, replicas)
	}
	e.check(deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	e.settle()
	pods, err := e.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	e.check(err)
	if len(pods.Items) > 0 {
		t.Errorf("%d pods are left", len(pods.Items))
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
}

func TestSettleEndsWithTheServer(t *testing.T) {
	e := start(t, miniapi.Config{})
	w, err := e.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	e.check(err)
	defer w.Stop()
	e.check(servertest.Stop(e.server))
	if err := e.server.Settle(t.Context()); err == nil || !strings.Contains(err.Error(), "the server has stopped") {
		t.Errorf("Settle of a stopped server returned %v", err)
	}
}
