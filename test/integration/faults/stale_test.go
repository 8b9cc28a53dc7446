package faults_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/faults"
)

// staleAgent is the user agent of the client that reads from the lagging API server.
const staleAgent = "stale"

// staleClient returns a client with the user agent staleAgent.
func (e *env) staleClient() *kubernetes.Clientset {
	e.Helper()
	config := rest.CopyConfig(e.server.RESTConfig())
	config.UserAgent = staleAgent
	return servertest.Client(e, config)
}

// holdCache creates the object "a" with the value "old", holds the cache for staleAgent, changes
// the object, and creates "b".
func (e *env) holdCache() (stale, current typedcorev1.ConfigMapInterface, f *faults.Active) {
	e.Helper()
	a := configMap("a")
	a.Data = map[string]string{"value": "old"}
	current, stale = e.client.CoreV1().ConfigMaps("default"), e.staleClient().CoreV1().ConfigMaps("default")
	_, err := current.Create(e.Context(), a, metav1.CreateOptions{})
	e.check(err)
	f = e.faults.Stale(faults.On("", "configmaps").From(staleAgent))
	a.Data["value"] = "new"
	e.check(e.update(a))
	e.check(e.create("b"))
	return stale, current, f
}

func (e *env) value(c typedcorev1.ConfigMapInterface, resourceVersion string) string {
	e.Helper()
	a, err := c.Get(e.Context(), "a", metav1.GetOptions{ResourceVersion: resourceVersion})
	e.check(err)
	return a.Data["value"]
}

func (e *env) list(c typedcorev1.ConfigMapInterface, options metav1.ListOptions) *corev1.ConfigMapList {
	e.Helper()
	list, err := c.List(e.Context(), options)
	e.check(err)
	return list
}

// await waits until a condition is met.
func (e *env) await(met func() bool) {
	e.Helper()
	deadline := time.After(time.Minute)
	for !met() {
		select {
		case <-deadline:
			e.Fatal("the condition is not met")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestStaleReadsSeeThePast(t *testing.T) {
	e := start(t)
	stale, current, f := e.holdCache()
	present := e.list(current, metav1.ListOptions{})
	anyVersion := metav1.ListOptions{ResourceVersion: "0"}

	if got := e.value(stale, "0"); got != "old" {
		t.Errorf("a get from the cache: %s", got)
	}
	if list := e.list(stale, anyVersion); len(list.Items) != 1 || list.Items[0].Data["value"] != "old" || list.ResourceVersion >= present.ResourceVersion {
		t.Errorf("a list from the cache at %s: %v", list.ResourceVersion, list.Items)
	}
	if got := e.value(stale, ""); got != "new" {
		t.Errorf("a consistent get: %s", got)
	}
	if list := e.list(stale, metav1.ListOptions{}); len(list.Items) != 2 {
		t.Errorf("a consistent list: %v", list.Items)
	}
	if list := e.list(stale, metav1.ListOptions{ResourceVersion: present.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}); len(list.Items) != 2 {
		t.Errorf("an exact list: %v", list.Items)
	}
	if got := e.value(current, "0"); got != "new" {
		t.Errorf("a get of another client: %s", got)
	}
	if _, err := stale.Get(t.Context(), "b", metav1.GetOptions{ResourceVersion: "0"}); !apierrors.IsNotFound(err) {
		t.Errorf("a new object: %v", err)
	}
	if f.Injected() != 3 {
		t.Errorf("%d stale reads, want 3: consistent reads do not count", f.Injected())
	}
	f.Remove()
	if got := e.value(stale, "0"); got != "new" {
		t.Errorf("after the fault: %s", got)
	}
}

// TestReadAheadOfStaleCache expects the error of kube-apiserver, after which clients try again.
func TestReadAheadOfStaleCache(t *testing.T) {
	e := start(t)
	stale, current, _ := e.holdCache()
	present := e.list(current, metav1.ListOptions{}).ResourceVersion
	notOlder := metav1.ListOptions{ResourceVersion: present, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	request := e.staleClient().CoreV1().RESTClient().Get().Namespace("default").Resource("configmaps").MaxRetries(0)
	err := request.Param("resourceVersion", notOlder.ResourceVersion).Param("resourceVersionMatch", string(notOlder.ResourceVersionMatch)).Do(t.Context()).Error()
	if !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("list: %v", err)
	}
	initial := true
	notOlder.SendInitialEvents, notOlder.AllowWatchBookmarks = &initial, true
	w, err := stale.Watch(t.Context(), notOlder)
	e.check(err)
	defer w.Stop()
	if event := <-w.ResultChan(); event.Type != watch.Error {
		t.Errorf("watch: %v", event)
	}
}

func TestStaleWatchWithholdsEvents(t *testing.T) {
	e := start(t)
	stale, current, f := e.holdCache()
	present := e.list(current, metav1.ListOptions{}).ResourceVersion
	initial := true
	open := map[string]watch.Interface{}
	for name, options := range map[string]metav1.ListOptions{
		"any state":          {ResourceVersion: "0"},
		"any initial events": {ResourceVersion: "0", SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
		"consistent":         {SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
		"later":              {ResourceVersion: present},
	} {
		w, err := stale.Watch(t.Context(), options)
		e.check(err)
		defer w.Stop()
		open[name] = w
	}
	e.check(e.create("c"))
	expect := func(name string, want ...string) {
		t.Helper()
		for _, want := range want {
			event := <-open[name].ResultChan()
			got := string(event.Type)
			if obj := event.Object.(*corev1.ConfigMap); event.Type != watch.Bookmark {
				got += " " + obj.Name + " " + obj.Data["value"]
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
	}
	expect("any state", "ADDED a old")
	expect("any initial events", "ADDED a old", "BOOKMARK")
	expect("consistent", "ADDED a new", "ADDED b ", "BOOKMARK")
	select {
	case event := <-open["any state"].ResultChan():
		t.Errorf("a withheld event arrives: %v", event)
	case event := <-open["consistent"].ResultChan():
		t.Errorf("a withheld event arrives: %v", event)
	case event := <-open["later"].ResultChan():
		t.Errorf("a withheld event arrives: %v", event)
	case <-time.After(50 * time.Millisecond):
	}
	f.Remove()
	expect("any state", "MODIFIED a new", "ADDED b ", "ADDED c ")
	expect("any initial events", "MODIFIED a new", "ADDED b ", "ADDED c ")
	expect("consistent", "ADDED c ")
	expect("later", "ADDED c ")
}

// TestInformerCatchesUpWithStaleCache runs an informer that is synced before the cache is held.
func TestInformerCatchesUpWithStaleCache(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	f := e.faults.Stale(faults.On("", "configmaps").From(staleAgent))
	e.check(e.create("b"))
	lister := e.informerOf(e.staleClient())
	e.check(e.create("c"))
	if _, err := lister.Get("c"); !apierrors.IsNotFound(err) {
		t.Errorf("the informer has a later object: %v", err)
	}
	f.Remove()
	e.await(func() bool {
		list, err := lister.List(labels.Everything())
		return err == nil && len(list) == 3
	})
}

func TestStaleCacheAtRevision(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	past := e.list(e.client.CoreV1().ConfigMaps("default"), metav1.ListOptions{}).ResourceVersion
	e.check(e.create("b"))
	f, err := e.faults.Add(faults.Fault{Effect: faults.Effect{Stale: &faults.Stale{ResourceVersion: past}}})
	e.check(err)
	if list := e.list(e.client.CoreV1().ConfigMaps("default"), metav1.ListOptions{ResourceVersion: "0"}); len(list.Items) != 1 || list.ResourceVersion != past {
		t.Errorf("at %s: %v", list.ResourceVersion, list.Items)
	}
	f.Remove()
	if _, err := e.faults.Add(faults.Fault{Effect: faults.Effect{Stale: &faults.Stale{ResourceVersion: "999999"}}}); err == nil {
		t.Error("a revision in the future is accepted")
	}
}

func TestLaggingCacheFollows(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	for lag, follows := range map[time.Duration]bool{5 * time.Millisecond: true, time.Hour: false} {
		f, err := e.faults.Add(faults.Fault{Effect: faults.Effect{Stale: &faults.Stale{Lag: metav1.Duration{Duration: lag}}}})
		e.check(err)
		w, err := e.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		e.check(err)
		name := "b-" + lag.String()
		e.check(e.create(name))
		if follows {
			e.await(func() bool {
				_, err := e.client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{ResourceVersion: "0"})
				return err == nil
			})
			for seen := ""; seen != name; seen = (<-w.ResultChan()).Object.(*corev1.ConfigMap).Name {
			}
		} else if _, err := e.client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{ResourceVersion: "0"}); !apierrors.IsNotFound(err) {
			t.Errorf("with a lag of %v: %v", lag, err)
		}
		w.Stop()
		f.Remove()
	}
}
