package integration_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// contents returns the UID and the data of the ConfigMaps in the namespace default, by name.
func contents(t *testing.T, client kubernetes.Interface) map[string]string {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	return contentsOf(list.Items)
}

func contentsOf(items []corev1.ConfigMap) map[string]string {
	contents := map[string]string{}
	for _, item := range items {
		contents[item.Name] = fmt.Sprint(item.UID, item.Data, item.CreationTimestamp)
	}
	return contents
}

func createConfigMap(t *testing.T, client kubernetes.Interface, name string) *corev1.ConfigMap {
	t.Helper()
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name), metav1.CreateOptions{})
	check(t, err)
	return created
}

func deleteConfigMap(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	check(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
}

func updateConfigMap(t *testing.T, client kubernetes.Interface, name, value string) {
	t.Helper()
	changed := configMap(name)
	changed.Data = map[string]string{"key": value}
	_, err := client.CoreV1().ConfigMaps("default").Update(t.Context(), changed, metav1.UpdateOptions{})
	check(t, err)
}

func takeSnapshot(t *testing.T, server *miniapi.Server) *miniapi.Snapshot {
	t.Helper()
	snapshot, err := server.Snapshot(t.Context())
	check(t, err)
	return snapshot
}

func TestRestoreWritesTheDifferences(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	for _, name := range []string{"same", "changed", "deleted", "recreated"} {
		createConfigMap(t, client, name)
	}
	snapshot, want := takeSnapshot(t, server), contents(t, client)

	createConfigMap(t, client, "added")
	updateConfigMap(t, client, "changed", "value")
	deleteConfigMap(t, client, "deleted")
	deleteConfigMap(t, client, "recreated")
	createConfigMap(t, client, "recreated")
	before, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	events, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	check(t, err)
	defer events.Stop()

	check(t, server.Restore(t.Context(), snapshot))
	after, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if diff := cmp.Diff(want, contentsOf(after.Items)); diff != "" {
		t.Errorf("the state differs from the snapshot: %s", diff)
	}
	if revision(t, after.ResourceVersion) <= revision(t, before.ResourceVersion) {
		t.Errorf("the resourceVersion goes from %s to %s", before.ResourceVersion, after.ResourceVersion)
	}
	got := map[string][]watch.EventType{}
	for range 5 {
		event := <-events.ResultChan()
		name := event.Object.(*corev1.ConfigMap).Name
		got[name] = append(got[name], event.Type)
	}
	wantEvents := map[string][]watch.EventType{
		"added": {watch.Deleted}, "changed": {watch.Modified}, "deleted": {watch.Added},
		"recreated": {watch.Deleted, watch.Added}, // the UID is another one
	}
	if diff := cmp.Diff(wantEvents, got); diff != "" {
		t.Errorf("events: %s", diff)
	}

	check(t, server.Restore(t.Context(), snapshot))
	again, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if again.ResourceVersion != after.ResourceVersion {
		t.Error("a restore without differences writes")
	}
}

func revision(t *testing.T, resourceVersion string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(resourceVersion, 10, 64)
	check(t, err)
	return n
}

func TestStaleWriteAfterRestoreConflicts(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	first := createConfigMap(t, client, "a")
	snapshot := takeSnapshot(t, server)
	updateConfigMap(t, client, "a", "value")
	check(t, server.Restore(t.Context(), snapshot))
	_, err := client.CoreV1().ConfigMaps("default").Update(t.Context(), first, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict: the content is the one of %s, but the object was written since", err, first.ResourceVersion)
	}
}

// await calls done until it returns true. The test fails after a minute.
func await(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not happen within a minute")
		}
	}
}

func TestResetRestoresTheStateAfterTheStart(t *testing.T) {
	dir := t.TempDir()
	server := servertest.Start(t, miniapi.Config{CRDs: []string{write(t, dir, "crd.yaml", definition("widgets", "Widget"))}})
	client := clientset(t, server)
	first, err := server.ObjectNames(t.Context())
	check(t, err)

	createConfigMap(t, client, "a")
	_, err = client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{})
	check(t, err)
	check(t, client.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
	createWidget(t, server, "w")
	check(t, server.InstallCRDs(t.Context(), write(t, dir, "gadgets.yaml", definition("gadgets", "Gadget"))))

	check(t, server.Reset(t.Context(), miniapi.ResetOptions{}))
	after, err := server.ObjectNames(t.Context())
	check(t, err)
	if diff := cmp.Diff(first, after); diff != "" {
		t.Errorf("the objects differ: %s", diff)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	createWidget(t, server, "w") // of a definition of the configuration
	if status, _ := fetch(t, server.RESTConfig(), "/apis/example.org/v1/gadgets"); status != 404 {
		t.Errorf("gadgets: %d, want 404", status)
	}
}

func createWidget(t *testing.T, server *miniapi.Server, name string) {
	t.Helper()
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": name}}}
	_, err := widgets(t, server).Create(t.Context(), widget, metav1.CreateOptions{})
	check(t, err)
}

func TestResetKeepsDefinitionsOnRequest(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	check(t, server.InstallCRDs(t.Context(), write(t, t.TempDir(), "crd.yaml", definition("widgets", "Widget"))))
	createWidget(t, server, "w")
	check(t, server.Reset(t.Context(), miniapi.ResetOptions{KeepCRDs: true}))
	list, err := widgets(t, server).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("%d widgets, error %v; want none", len(list.Items), err)
	}
}

func TestResetFreesAddressesOfServices(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	for range 3 {
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: corev1.ServiceSpec{
				ClusterIP: "10.0.0.77", Type: corev1.ServiceTypeNodePort,
				Ports: []corev1.ServicePort{{Port: 80, NodePort: 30077}},
			},
		}
		_, err := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{})
		check(t, err)
		check(t, server.Reset(t.Context(), miniapi.ResetOptions{}))
	}
}

// compact writes until the history since the start is compacted.
func compact(t *testing.T, server *miniapi.Server) {
	t.Helper()
	client := clientset(t, server)
	first := createConfigMap(t, client, "first")
	await(t, func() bool {
		_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{
			ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		})
		updateConfigMap(t, client, "first", time.Now().String())
		return apierrors.IsResourceExpired(err)
	})
}

func TestResetAfterACompaction(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{CompactionInterval: 20 * time.Millisecond})
	compact(t, server)
	check(t, server.Reset(t.Context(), miniapi.ResetOptions{}))
	if left := contents(t, clientset(t, server)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestResetErrors(t *testing.T) {
	durable := servertest.Start(t, miniapi.Config{DataDir: t.TempDir(), CompactionInterval: 20 * time.Millisecond})
	compact(t, durable)
	cluster := servertest.Start(t, miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	replica := servertest.Start(t, miniapi.Config{EtcdServers: cluster.EtcdClientURLs()})
	for want, server := range map[string]*miniapi.Server{"was compacted": durable, "with an etcd cluster cannot be reset": replica} {
		if err := server.Reset(t.Context(), miniapi.ResetOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := miniapi.Start(t.Context(), miniapi.Config{Snapshot: takeSnapshot(t, cluster), DataDir: t.TempDir()}); err == nil {
		t.Error("a snapshot with a data directory is accepted")
	}
}

func TestSnapshotsKeepTheTimeToLive(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: corev1.ObjectReference{Namespace: "default"}}
	_, err := clientset(t, server).CoreV1().Events("default").Create(t.Context(), event, metav1.CreateOptions{})
	check(t, err)
	fork, err := server.Fork(t.Context())
	check(t, err)
	defer func() { check(t, servertest.Stop(fork)) }()
	stored, err := fork.EtcdClient().Get(t.Context(), "/registry/events/default/e")
	check(t, err)
	if len(stored.Kvs) != 1 || stored.Kvs[0].Lease == 0 {
		t.Errorf("stored: %v, want one key with a lease", stored.Kvs)
	}
}

// TestResetDuringTheDeletionOfANamespace resets while the namespace controller deletes the content
// of a namespace that exists in the initial state.
func TestResetDuringTheDeletionOfANamespace(t *testing.T) {
	first := servertest.Start(t, miniapi.Config{})
	client := clientset(t, first)
	for i := range 200 {
		_, err := client.CoreV1().ConfigMaps("kube-node-lease").Create(t.Context(), named(fmt.Sprint(i)), metav1.CreateOptions{})
		check(t, err)
	}
	server := servertest.Start(t, miniapi.Config{Snapshot: takeSnapshot(t, first)})
	client = clientset(t, server)
	for range 5 {
		check(t, client.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
		await(t, func() bool { return countConfigMaps(t, client) < 200 })
		check(t, server.Reset(t.Context(), miniapi.ResetOptions{}))
		namespace, err := client.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
		check(t, err)
		if namespace.DeletionTimestamp != nil || len(namespace.Spec.Finalizers) != 1 {
			t.Fatalf("the namespace is deleted at %v, finalizers %v", namespace.DeletionTimestamp, namespace.Spec.Finalizers)
		}
		if n := countConfigMaps(t, client); n != 200 {
			t.Fatalf("%d objects, want 200", n)
		}
	}
}

func named(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func countConfigMaps(t *testing.T, client kubernetes.Interface) int {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("kube-node-lease").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	return len(list.Items)
}

// A client resumes a watch at the resourceVersion of the last event that it has received, and
// receives all other events of a restore. So each event of a restore has a resourceVersion of its
// own.
func TestAWatchResumesWithinARestore(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	snapshot := takeSnapshot(t, server)
	want := []string{"a", "b", "c", "d"}
	var last *corev1.ConfigMap
	for _, name := range want {
		last = createConfigMap(t, client, name)
	}
	check(t, server.Restore(t.Context(), snapshot))
	var deleted []string
	for version := last.ResourceVersion; len(deleted) < len(want); {
		events, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{
			ResourceVersion: version, AllowWatchBookmarks: true,
		})
		check(t, err)
		event := <-events.ResultChan() // then the connection breaks
		events.Stop()
		obj := event.Object.(*corev1.ConfigMap)
		if event.Type != watch.Deleted {
			t.Fatalf("after the events of %q the watch sends %s", deleted, event.Type)
		}
		deleted, version = append(deleted, obj.Name), obj.ResourceVersion
	}
	slices.Sort(deleted)
	if !slices.Equal(deleted, want) {
		t.Errorf("deleted: %q, want %q", deleted, want)
	}
}

// The webhook configurations of a restored state apply to the next request.
func TestWebhooksOfARestoredStateTakeEffectImmediately(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	without := takeSnapshot(t, server)
	_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "closed"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "closed.example.com", SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1")},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}, metav1.CreateOptions{})
	check(t, err)
	with := takeSnapshot(t, server)
	create := func() error {
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("c"), metav1.CreateOptions{})
		return err
	}
	for range 20 {
		check(t, server.Restore(t.Context(), without))
		check(t, create())
		check(t, server.Restore(t.Context(), with))
		if err := create(); !apierrors.IsInternalError(err) {
			t.Fatalf("the webhook is not called: %v", err)
		}
	}
}
