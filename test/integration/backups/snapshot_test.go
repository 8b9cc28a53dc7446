package backups_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/servertest"
)

// state is a part of the objects of a snapshot.
type state struct {
	Color, Password string
	Replicas        int32
	ConfigMaps      []string
	Recipes         map[string]any // the servings
}

func stateOf(t *testing.T, server *miniapi.Server) state {
	t.Helper()
	typed, custom := clients(t, server)
	var s state
	maps, err := typed.CoreV1().ConfigMaps("shop").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	for _, item := range maps.Items {
		s.ConfigMaps = append(s.ConfigMaps, item.Name)
		if item.Name == "settings" {
			s.Color = item.Data["color"]
		}
	}
	secret, err := typed.CoreV1().Secrets("shop").Get(t.Context(), "database", metav1.GetOptions{})
	check(t, err)
	s.Password = string(secret.Data["password"])
	web, err := typed.AppsV1().Deployments("shop").Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	s.Replicas = *web.Spec.Replicas
	list, err := custom.Resource(recipes).Namespace("shop").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	s.Recipes = map[string]any{}
	for _, item := range list.Items {
		s.Recipes[item.GetName()], _, _ = unstructured.NestedInt64(item.Object, "spec", "servings")
	}
	return s
}

func TestSnapshotIsServed(t *testing.T) {
	before := state{"green", "first", 2, []string{"settings"}, map[string]any{"soup": int64(4), "bread": int64(8)}}
	after := state{"blue", "second", 3, []string{"flags", "settings"}, map[string]any{"soup": int64(4), "cake": int64(12)}}
	for name, test := range map[string]struct {
		config miniapi.Config
		want   state
	}{
		"the latest revision":  {miniapi.Config{FromSnapshot: snapshot(t, "after.db")}, after},
		"an earlier one":       {miniapi.Config{FromSnapshot: snapshot(t, "after.db"), AtRevision: beforeRevision}, before},
		"an earlier snapshot":  {miniapi.Config{FromSnapshot: snapshot(t, "before.db")}, before},
		"the emulated version": {miniapi.Config{FromSnapshot: snapshot(t, "after.db"), EmulatedVersion: "1.36"}, after},
		"in RBAC mode":         {miniapi.Config{FromSnapshot: snapshot(t, "after.db"), Authorization: miniapi.RBAC}, after},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, stateOf(t, servertest.Start(t, test.config))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Definitions are as old as the other objects: at this revision there are none.
func TestDiscoveryIsAsOfTheRevision(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db"), AtRevision: oldestRevision})
	typed, custom := clients(t, server)
	if _, err := custom.Resource(recipes).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("list of recipes before their definition: %v", err)
	}
	namespaces, err := typed.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(namespaces.Items) != 4 {
		t.Errorf("%d namespaces", len(namespaces.Items))
	}
}

// An aggregated API is not a part of the snapshot, so it is not in discovery either.
func TestAggregatedAPIsAreNotServed(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db")})
	typed, custom := clients(t, server)
	groups, err := typed.Discovery().ServerGroups()
	check(t, err)
	if slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == "metrics.example.com" }) {
		t.Error("the group of the APIService is served")
	}
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	_, err = custom.Resource(services).Get(t.Context(), "v1.metrics.example.com", metav1.GetOptions{})
	check(t, err)
}

// Conversion webhooks belong to another time and place: the stored version can be read, other
// versions are an error that names it.
func TestConversionWebhooksAreNotCalled(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db")})
	_, custom := clients(t, server)
	orders := schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "orders"}
	_, err := custom.Resource(orders).Get(t.Context(), "first", metav1.GetOptions{})
	check(t, err)
	orders.Version = "v2"
	_, err = custom.Resource(orders).Get(t.Context(), "first", metav1.GetOptions{})
	if err == nil || !strings.Contains(err.Error(), "read the version shop.example.com/v1") {
		t.Errorf("error %v", err)
	}
}

func TestWatchesEndAtTheRevision(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db"), AtRevision: beforeRevision})
	typed, _ := clients(t, server)
	watcher, err := typed.CoreV1().ConfigMaps("shop").Watch(t.Context(), metav1.ListOptions{
		ResourceVersion: "207", AllowWatchBookmarks: true, SendInitialEvents: new(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	check(t, err)
	defer watcher.Stop()
	if event := <-watcher.ResultChan(); event.Type != watch.Added || event.Object.(*corev1.ConfigMap).Data["color"] != "green" {
		t.Errorf("event %+v", event)
	}
	if event := <-watcher.ResultChan(); event.Type != watch.Bookmark || event.Object.(*corev1.ConfigMap).ResourceVersion != "229" {
		t.Errorf("event %+v", event)
	}
	past, err := typed.CoreV1().ConfigMaps("shop").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "209"})
	check(t, err)
	defer past.Stop()
	for _, want := range []watch.EventType{watch.Modified, watch.Deleted} {
		if event := <-past.ResultChan(); event.Type != want {
			t.Errorf("event %+v, want %s", event, want)
		}
	}
}

func TestHistoryOfASnapshot(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db"), TestAPIs: true})
	typed, _ := clients(t, server)
	body, err := typed.RESTClient().Get().AbsPath("/api/v1/namespaces/shop/configmaps/settings/history").DoRaw(t.Context())
	check(t, err)
	if text := string(body); strings.Count(text, `"event":"Updated"`) != 2 || !strings.Contains(text, `"oldestResourceVersion":"197"`) {
		t.Errorf("history %s", text)
	}
	list, err := typed.CoreV1().ConfigMaps("shop").List(t.Context(), metav1.ListOptions{
		ResourceVersion: "210", ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	check(t, err)
	if len(list.Items) != 2 || list.Items[1].Data["color"] != "red" {
		t.Errorf("list at an earlier revision: %+v", list.Items)
	}
}

// A snapshot is served from a copy: neither the file nor its directory is written.
func TestSnapshotFileStaysUnchanged(t *testing.T) {
	file := snapshot(t, "after.db")
	before, err := os.ReadFile(file)
	check(t, err)
	check(t, os.Chmod(file, 0o400))
	server := servertest.Start(t, miniapi.Config{FromSnapshot: file, TestAPIs: true})
	stateOf(t, server)
	check(t, servertest.Stop(server))
	after, err := os.ReadFile(file)
	check(t, err)
	entries, err := os.ReadDir(filepath.Dir(file))
	check(t, err)
	if string(after) != string(before) || len(entries) != 1 {
		t.Errorf("the file has changed, or its directory: %v", entries)
	}
}

func TestForkOfASnapshotIsWritable(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db"), AtRevision: beforeRevision})
	fork, err := server.Fork(t.Context())
	check(t, err)
	t.Cleanup(func() { check(t, servertest.Stop(fork)) })
	typed, custom := clients(t, fork)
	check(t, typed.CoreV1().ConfigMaps("shop").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	list, err := custom.Resource(recipes).Namespace("shop").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 2 {
		t.Errorf("%d recipes", len(list.Items))
	}
}

func TestErrorsOfSnapshots(t *testing.T) {
	file := snapshot(t, "after.db")
	data, err := os.ReadFile(file)
	check(t, err)
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	data[len(data)/2] ^= 1
	check(t, os.WriteFile(damaged, data, 0o600))
	for name, test := range map[string]struct {
		config miniapi.Config
		text   string
	}{
		"a changed byte":       {miniapi.Config{FromSnapshot: damaged}, "the checksum at its end does not match"},
		"no file":              {miniapi.Config{FromSnapshot: "missing.db"}, "missing.db: no such file"},
		"not a directory":      {miniapi.Config{FromSnapshot: t.TempDir()}, "there is no file member/snap/db"},
		"another prefix":       {miniapi.Config{FromSnapshot: file, EtcdPrefix: "/other"}, "no keys below /other/ in etcd, but keys such as /elsewhere/key: set --etcd-prefix"},
		"a compacted revision": {miniapi.Config{FromSnapshot: file, AtRevision: 100}, "revision 100 is compacted: revisions 197 to 239 can be read"},
		"a future revision":    {miniapi.Config{FromSnapshot: file, AtRevision: 240}, "revision 240 does not exist yet: the latest one is 239"},
		"a negative revision":  {miniapi.Config{FromSnapshot: file, AtRevision: -1}, "--at-revision -1 is negative"},
		"a data directory":     {miniapi.Config{FromSnapshot: file, DataDir: t.TempDir()}, "--data-dir cannot be combined with --from-snapshot"},
		"definitions":          {miniapi.Config{FromSnapshot: file, CRDs: []string{"."}}, "--crds writes objects"},
		"more objects":         {miniapi.Config{FromSnapshot: file, Bootstrap: bootstrap.Full}, "--bootstrap=full writes objects"},
		"no etcd":              {miniapi.Config{ReadOnly: true}, "--read-only is for --etcd-servers: name an etcd"},
		"a directory":          {miniapi.Config{ReadOnly: true, DataDir: t.TempDir()}, "use --from-snapshot DIR"},
		"a writable server":    {miniapi.Config{AtRevision: 5}, "--at-revision is for a read-only server"},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := miniapi.Start(t.Context(), test.config)
			if err == nil {
				check(t, servertest.Stop(server))
			}
			if err == nil || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, test.text)
			}
		})
	}
}

// The resource servers of the test APIs shows the revision that is served.
func TestStateOfAReadOnlyServer(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db"), AtRevision: beforeRevision, TestAPIs: true})
	_, custom := clients(t, server)
	servers := schema.GroupVersionResource{Group: "miniapi.dev", Version: "v1alpha1", Resource: "servers"}
	list, err := custom.Resource(servers).List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("servers %v", list.Items)
	}
	for field, want := range map[string]int64{"revision": beforeRevision, "oldestRevision": oldestRevision, "historySeconds": 0} {
		if got, _, err := unstructured.NestedInt64(list.Items[0].Object, field); err != nil || got != want {
			t.Errorf("%s %d, %v, want %d", field, got, err, want)
		}
	}
}
