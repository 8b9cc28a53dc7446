package backups_test

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/versioner"
)

// writes are requests of all verbs that change objects.
func writes(typed *kubernetes.Clientset, custom dynamic.Interface) map[string]func(context.Context) error {
	maps, web := typed.CoreV1().ConfigMaps("shop"), typed.AppsV1().Deployments("shop")
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}
	apply := metav1.PatchOptions{FieldManager: "me"}
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
			return err
		},
		"dry run": func(ctx context.Context) error {
			_, err := maps.Create(ctx, settings, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		},
		"update": func(ctx context.Context) error {
			_, err := maps.Update(ctx, settings, metav1.UpdateOptions{})
			return err
		},
		"patch": func(ctx context.Context) error {
			_, err := maps.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
			return err
		},
		"apply": func(ctx context.Context) error {
			_, err := maps.Patch(ctx, "new", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`), apply)
			return err
		},
		"delete":            func(ctx context.Context) error { return maps.Delete(ctx, "settings", metav1.DeleteOptions{}) },
		"delete of nothing": func(ctx context.Context) error { return maps.Delete(ctx, "missing", metav1.DeleteOptions{}) },
		"deletecollection": func(ctx context.Context) error {
			return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "no=object"})
		},
		"status": func(ctx context.Context) error {
			_, err := web.Patch(ctx, "web", types.MergePatchType, []byte(`{"status":{"replicas":1}}`), metav1.PatchOptions{}, "status")
			return err
		},
		"scale": func(ctx context.Context) error {
			_, err := web.UpdateScale(ctx, "web", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}, metav1.UpdateOptions{})
			return err
		},
		"token": func(ctx context.Context) error {
			_, err := typed.CoreV1().ServiceAccounts("shop").CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
			return err
		},
		"binding": func(ctx context.Context) error {
			return typed.CoreV1().Pods("shop").Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Name: "n"}}, metav1.CreateOptions{})
		},
		"custom resource": func(ctx context.Context) error {
			return custom.Resource(recipes).Namespace("shop").Delete(ctx, "soup", metav1.DeleteOptions{})
		},
		"invalid object": func(ctx context.Context) error {
			invalid := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "kitchen.example.com/v1", "kind": "Recipe", "metadata": map[string]any{"name": "x"},
				"spec": map[string]any{"servings": "many"},
			}}
			_, err := custom.Resource(recipes).Namespace("shop").Create(ctx, invalid, metav1.CreateOptions{})
			return err
		},
	}
}

func TestEveryWriteIsForbidden(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db")})
	for name, write := range writes(clients(t, server)) {
		t.Run(name, func(t *testing.T) {
			err := write(t.Context())
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "is forbidden: the server is read-only: it serves the snapshot ") ||
				!strings.HasSuffix(err.Error(), "after.db at revision 239") {
				t.Errorf("error %v", err)
			}
		})
	}
	response, err := server.EtcdClient().Get(t.Context(), "/registry")
	check(t, err)
	if response.Header.Revision != afterRevision {
		t.Errorf("revision %d after the writes", response.Header.Revision)
	}
}

// A review stores nothing.
func TestReviewsAreAnswered(t *testing.T) {
	typed, _ := clients(t, servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db")}))
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"},
	}}
	answer, err := typed.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	check(t, err)
	if !answer.Status.Allowed {
		t.Errorf("answer %+v", answer.Status)
	}
}

func TestReadOnlyServersAreNotReset(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{FromSnapshot: snapshot(t, "after.db")})
	state, err := server.Snapshot(t.Context())
	check(t, err)
	if err := server.Reset(t.Context(), miniapi.ResetOptions{}); err == nil {
		t.Error("reset")
	}
	if err := server.Restore(t.Context(), state); err == nil {
		t.Error("restored")
	}
}

// cluster starts a server whose etcd other servers can use.
func cluster(t *testing.T) (server *miniapi.Server, url string) {
	t.Helper()
	server = servertest.Start(t, miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	return server, server.EtcdClientURLs()[0]
}

// A read-only server shows the writes of other servers and makes none.
func TestReadOnlyServerOfARunningEtcd(t *testing.T) {
	source, url := cluster(t)
	writer, _ := clients(t, source)
	server := servertest.Start(t, miniapi.Config{EtcdServers: []string{url}, ReadOnly: true, Authorization: miniapi.RBAC})
	typed, custom := clients(t, server)
	watcher, err := typed.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watcher.Stop()
	created, err := writer.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	check(t, err)
	if event := <-watcher.ResultChan(); event.Type != watch.Added || event.Object.(*corev1.ConfigMap).UID != created.UID {
		t.Errorf("event %+v", event)
	}
	for name, write := range writes(typed, custom) {
		if name == "custom resource" || name == "invalid object" {
			continue // the etcd has no definitions
		}
		if err := write(t.Context()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "(--read-only)") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	check(t, servertest.Stop(server))
	response, err := source.EtcdClient().Get(t.Context(), "/registry")
	check(t, err)
	if got := response.Header.Revision; created.ResourceVersion != versioner.Format(got) {
		t.Errorf("revision %d, want %s: the server has written", got, created.ResourceVersion)
	}
	leases, err := source.EtcdClient().Leases(t.Context())
	check(t, err)
	if len(leases.Leases) > 0 {
		t.Errorf("leases %v", leases.Leases)
	}
}

// At a revision the server ignores the writes of other servers.
func TestReadOnlyServerOfARunningEtcdAtARevision(t *testing.T) {
	source, url := cluster(t)
	writer, _ := clients(t, source)
	maps := writer.CoreV1().ConfigMaps("default")
	for _, name := range []string{"first", "second"} {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		check(t, err)
	}
	response, err := source.EtcdClient().Get(t.Context(), "/registry")
	check(t, err)
	shown := response.Header.Revision
	check(t, maps.Delete(t.Context(), "first", metav1.DeleteOptions{}))
	server := servertest.Start(t, miniapi.Config{EtcdServers: []string{url}, ReadOnly: true, AtRevision: shown})
	typed, _ := clients(t, server)
	check(t, maps.Delete(t.Context(), "second", metav1.DeleteOptions{}))
	list, err := typed.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 2 || list.ResourceVersion != versioner.Format(shown) {
		t.Errorf("%d ConfigMaps at %s", len(list.Items), list.ResourceVersion)
	}
	if got := server.Revisions(); got.Shown != shown || got.Oldest != 1 || got.Latest != shown+1 {
		t.Errorf("revisions %+v", got)
	}
}
