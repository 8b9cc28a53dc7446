package faults_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/testapi/faults"
)

// startOnEtcd starts a server on an etcd that the test controls.
func startOnEtcd(t *testing.T) (*env, *embedded.Server) {
	t.Helper()
	store, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) }) // some tests stop it before
	return startWith(t, miniapi.Config{Controllers: []string{"-*"}, EtcdServers: store.ClientURLs()}), store
}

// answers returns the responses to a create, a get, a list and a deletion. limit is the time limit
// of each request, such as 1s.
func (e *env) answers(limit string) map[string]string {
	e.Helper()
	found := map[string]string{}
	for name, request := range map[string]struct{ method, path, body string }{
		"create": {"POST", "?", `{"metadata":{"name":"b"}}`},
		"update": {"PUT", "/a?", `{"metadata":{"name":"a"},"data":{"new":"value"}}`},
		"delete": {"DELETE", "/absent?", ""},
		"get":    {"GET", "/a?", ""},
		"list":   {"GET", "?labelSelector=absent&", ""},
	} {
		code, body := e.send(request.method, "/api/v1/namespaces/default/configmaps"+request.path+"timeout="+limit, request.body)
		if code < 300 {
			body = "" // has volatile values
		}
		found[name] = http.StatusText(code) + " " + body
	}
	return found
}

// readCache reads an object from the watch cache.
func (e *env) readCache() {
	e.Helper()
	if code, body := e.send("GET", "/api/v1/namespaces/default/configmaps/a?resourceVersion=0", ""); code != http.StatusOK {
		e.Errorf("a read of the watch cache has the answer %d %s", code, body)
	}
}

func (e *env) send(method, path, body string) (code int, content string) {
	e.Helper()
	return e.sendIn(e.Context(), method, e.server.URL()+path, body)
}

// sendIn sends a request on a connection of its own.
func (e *env) sendIn(ctx context.Context, method, url, body string) (code int, content string) {
	e.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	e.check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	e.check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	e.check(err)
	return resp.StatusCode, string(data)
}

// TestEtcdThatDoesNotAnswerLooksLikeALostOne compares a latency beyond the time limit of requests
// with an etcd that was stopped. Reads of the watch cache are not compared, because a cache without
// its log answers none.
func TestEtcdThatDoesNotAnswerLooksLikeALostOne(t *testing.T) {
	e, store := startOnEtcd(t)
	e.check(e.create("a"))
	f := e.faults.Etcd(faults.Match{}, faults.Etcd{Latency: &faults.Latency{Duration: metav1.Duration{Duration: time.Hour}}})
	injected := e.answers("1s")
	e.readCache()
	f.Remove()
	e.check(store.Close(t.Context()))
	if diff := cmp.Diff(e.answers("1s"), injected); diff != "" {
		t.Errorf("-lost +slow\n%s", diff)
	}
}

// TestUnavailableEtcdIsAServerTimeout expects the answers of a server whose etcd restarts.
func TestUnavailableEtcdIsAServerTimeout(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	e.faults.Etcd(faults.Match{}, faults.Etcd{Unavailable: true})
	for name, answer := range e.answers("1m") {
		if !strings.Contains(answer, "could not be completed at this time, please try again.") {
			t.Errorf("%s: %s", name, answer)
		}
	}
	e.readCache()
}

func TestEtcdWithoutSpaceLooksLikeAnAlarm(t *testing.T) {
	e, store := startOnEtcd(t)
	e.check(e.create("a"))
	f := e.faults.Etcd(faults.Match{}, faults.Etcd{NoSpace: true})
	injected, ready := e.answers("1m"), e.readiness()
	f.Remove()
	e.raiseAlarm(store)
	if diff := cmp.Diff(e.answers("1m"), injected); diff != "" {
		t.Errorf("-alarm +noSpace\n%s", diff)
	}
	if real := e.readiness(); ready != real || !strings.Contains(ready, "[-]storage-space") {
		t.Errorf("readiness %s, with an alarm %s", ready, real)
	}
}

func (e *env) readiness() string {
	_, body := e.send("GET", "/readyz?verbose", "")
	return body
}

// raiseAlarm raises the alarm NOSPACE of an etcd.
func (e *env) raiseAlarm(store *embedded.Server) {
	e.Helper()
	client := dialEtcd(e.T, store)
	_, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Alarm(e.Context(), &etcdserverpb.AlarmRequest{
		Action: etcdserverpb.AlarmRequest_ACTIVATE, Alarm: etcdserverpb.AlarmType_NOSPACE,
	})
	e.check(err)
}

func TestUnavailableEtcdConcernsSelectedRequests(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	f := e.faults.Etcd(faults.On("create", "configmaps"), faults.Etcd{Unavailable: true})
	defer f.Remove()
	if code, _ := e.send("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"b"}}`); code != http.StatusInternalServerError {
		t.Errorf("create: %d", code)
	}
	if _, err := e.get("a"); err != nil {
		t.Errorf("get: %v", err)
	}
	if strings.Contains(e.readiness(), "[-]") {
		t.Error("the server is not ready")
	}
	if f.Injected() != 1 {
		t.Errorf("%d requests, want 1", f.Injected())
	}
}

func TestUnavailableEtcdOfWholeServer(t *testing.T) {
	e := startWith(t, miniapi.Config{})
	w := e.watch()
	f := e.faults.Etcd(faults.Match{}, faults.Etcd{Unavailable: true})
	if !strings.Contains(e.readiness(), "[-]etcd") {
		t.Error("the server is ready")
	}
	f.Remove()
	e.check(e.create("a"))
	if event := <-w.ResultChan(); event.Object.(metav1.Object).GetName() != "a" {
		t.Errorf("the watch continues with %v", event)
	}
	e.awaitReady()
}

// TestEventsOfUnavailableEtcd lets another client write to the etcd that the server cannot reach.
func TestEventsOfUnavailableEtcd(t *testing.T) {
	e, store := startOnEtcd(t)
	e.check(e.create("a"))
	w := e.watch()
	f := e.faults.Etcd(faults.Match{}, faults.Etcd{Unavailable: true})
	client := dialEtcd(t, store)
	const prefix = "/registry/configmaps/default/"
	stored, err := client.Get(t.Context(), prefix+"a")
	e.check(err)
	_, err = client.Put(t.Context(), prefix+"a", string(stored.Kvs[0].Value))
	e.check(err)
	select {
	case event := <-w.ResultChan():
		t.Errorf("an event of an etcd that is unavailable: %v", event)
	case <-time.After(50 * time.Millisecond):
	}
	f.Remove()
	if event := <-w.ResultChan(); event.Type != watch.Modified {
		t.Errorf("got %v", event)
	}
}

func TestServerStopsWithUnavailableEtcd(t *testing.T) {
	e := startWith(t, miniapi.Config{})
	e.faults.Etcd(faults.Match{}, faults.Etcd{Unavailable: true}) // the cleanup of start stops the server
}

func TestSlowEtcd(t *testing.T) {
	e := start(t)
	const delay = 50 * time.Millisecond
	f := e.faults.Etcd(faults.On("", "configmaps"), faults.Etcd{Latency: &faults.Latency{Duration: metav1.Duration{Duration: delay}}})
	defer f.Remove()
	began := time.Now()
	e.check(e.create("a"))
	if took := time.Since(began); took < delay {
		t.Errorf("the request took %v, less than the delay", took)
	}
}

func TestCompactionExpiresVersions(t *testing.T) {
	e := start(t)
	maps := e.client.CoreV1().ConfigMaps("default")
	for _, name := range []string{"a", "b", "c"} {
		e.check(e.create(name))
	}
	page := e.list(maps, metav1.ListOptions{Limit: 1})
	f := e.faults.Compact(faults.On("list", "configmaps").Times(1))
	_, err := maps.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("the next page: %v", err)
	}
	status = err.(apierrors.APIStatus)
	if rest := e.list(maps, metav1.ListOptions{Continue: status.Status().Continue}); len(rest.Items) != 2 {
		t.Errorf("the inconsistent continuation: %v", rest.Items)
	}
	exact := metav1.ListOptions{ResourceVersion: page.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	if _, err := maps.List(t.Context(), exact); !apierrors.IsResourceExpired(err) {
		t.Errorf("an exact list: %v", err)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: page.ResourceVersion})
	e.check(err)
	defer w.Stop()
	if event := <-w.ResultChan(); !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Errorf("a watch: %v", event)
	}
	if f.Injected() != 1 {
		t.Errorf("%d compactions, want 1", f.Injected())
	}
	e.check(e.server.Reset(t.Context(), miniapi.ResetOptions{}))
	if list := e.list(maps, metav1.ListOptions{}); len(list.Items) != 0 {
		t.Errorf("after the reset: %v", list.Items)
	}
}

// TestInformerSurvivesCompaction runs an informer whose watch ends and resumes from a compacted
// revision.
func TestInformerSurvivesCompaction(t *testing.T) {
	e := start(t)
	one := 1
	e.faults.Watch(faults.On("watch", "configmaps").Times(1), faults.Watch{EndAfter: &one})
	f := e.faults.Compact(faults.Match{Verbs: []string{"watch"}, Resources: []string{"configmaps"}, Count: 1})
	lister := e.informer()
	for _, name := range []string{"a", "b", "c"} {
		e.check(e.create(name))
	}
	e.await(func() bool {
		_, err := lister.Get("c")
		return err == nil && f.Injected() == 1
	})
}
