package testapis_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/snapshots"
)

// snapshotEnv is a server with clients.
type snapshotEnv struct {
	t      *testing.T
	core   kubernetes.Interface
	client dynamic.ResourceInterface
}

func startForSnapshots(t *testing.T, config miniapi.Config) *snapshotEnv {
	t.Helper()
	server := servertest.Start(t, config)
	e := &snapshotEnv{t: t}
	httpClient := servertest.HTTPClient(t, server.RESTConfig())
	limitless := rest.CopyConfig(server.RESTConfig())
	limitless.QPS = -1
	clients, err := dynamic.NewForConfigAndClient(limitless, httpClient)
	e.check(err)
	e.core, err = kubernetes.NewForConfigAndClient(limitless, httpClient)
	e.check(err)
	e.client = clients.Resource(schema.GroupVersionResource{Group: "miniapi.dev", Version: "v1alpha1", Resource: "snapshots"})
	return e
}

func (e *snapshotEnv) check(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func newSnapshot(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "miniapi.dev/v1alpha1", "kind": "Snapshot", "metadata": map[string]any{"name": name},
	}}
}

func (e *snapshotEnv) take(name string) (*unstructured.Unstructured, error) {
	return e.client.Create(e.t.Context(), newSnapshot(name), metav1.CreateOptions{})
}

func (e *snapshotEnv) restore(name string, options metav1.CreateOptions) error {
	_, err := e.client.Create(e.t.Context(), newSnapshot(name), options, "restore")
	return err
}

func TestSnapshotRestoresObjectsAndWatchesSeeTheChanges(t *testing.T) {
	t.Parallel()
	e := startForSnapshots(t, miniapi.Config{TestAPIs: true})
	configMaps := e.core.CoreV1().ConfigMaps("default")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "before"}}
	first, err := configMaps.Create(t.Context(), object, metav1.CreateOptions{})
	e.check(err)
	taken, err := e.take("s")
	e.check(err)
	if revision, _, _ := unstructured.NestedInt64(taken.Object, "status", "revision"); fmt.Sprint(revision) != first.ResourceVersion {
		t.Errorf("status %v of a snapshot at resourceVersion %s", taken.Object["status"], first.ResourceVersion)
	}
	changed := first.DeepCopy()
	changed.Data["k"] = "after"
	second, err := configMaps.Update(t.Context(), changed, metav1.UpdateOptions{})
	e.check(err)
	events, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: second.ResourceVersion})
	e.check(err)
	defer events.Stop()
	e.check(e.restore("s", metav1.CreateOptions{DryRun: []string{"All"}}))
	e.check(e.restore("s", metav1.CreateOptions{}))
	event := <-events.ResultChan()
	restored, ok := event.Object.(*corev1.ConfigMap)
	if !ok || event.Type != watch.Modified || restored.Data["k"] != "before" || restored.UID != first.UID {
		t.Fatalf("the watch got %s %v", event.Type, event.Object)
	}
	order, err := resourceversion.CompareResourceVersion(restored.ResourceVersion, second.ResourceVersion)
	if err != nil || order <= 0 {
		t.Errorf("resourceVersion %s after %s", restored.ResourceVersion, second.ResourceVersion)
	}
	e.check(e.client.Delete(t.Context(), "s", metav1.DeleteOptions{}))
	if err := e.restore("s", metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted snapshot: %v", err)
	}
}

func TestSnapshotsAreLimited(t *testing.T) {
	t.Parallel()
	e := startForSnapshots(t, miniapi.Config{TestAPIs: true, Controllers: []string{"-*"}})
	for i := range snapshots.MaxCount {
		_, err := e.take(fmt.Sprint("s", i))
		e.check(err)
	}
	if _, err := e.take("s0"); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a name that exists: %v", err)
	}
	if _, err := e.take("more"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the server has 100 snapshots, which is the limit: delete one of them") {
		t.Errorf("one more: %v", err)
	}
	e.check(e.client.Delete(t.Context(), "s7", metav1.DeleteOptions{}))
	_, err := e.take("more")
	e.check(err)
}

func TestSnapshotsNeedTestAPIsAndRights(t *testing.T) {
	t.Parallel()
	off := startForSnapshots(t, miniapi.Config{})
	if _, err := off.take("s"); !apierrors.IsNotFound(err) {
		t.Errorf("without the test APIs: %v", err)
	}
	server, err := miniapi.Start(t.Context(), miniapi.Config{TestAPIs: true, Authorization: miniapi.RBAC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = servertest.Stop(server) })
	config := rest.CopyConfig(server.RESTConfig())
	config.Impersonate.UserName = "reader"
	client, err := dynamic.NewForConfig(config)
	off.check(err)
	resource := client.Resource(schema.GroupVersionResource{Group: "miniapi.dev", Version: "v1alpha1", Resource: "snapshots"})
	if _, err := resource.Create(t.Context(), newSnapshot("s"), metav1.CreateOptions{}, "restore"); !apierrors.IsForbidden(err) {
		t.Errorf("a user without rights: %v", err)
	}
}
