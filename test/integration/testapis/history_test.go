package testapis_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/activity"
	"github.com/miniapi/miniapi/testapi/history"
)

const webPath = "/apis/apps/v1/namespaces/default/deployments/web"

// raw reads a path.
func raw(t *testing.T, c *kubernetes.Clientset, path string, params ...string) ([]byte, error) {
	t.Helper()
	request := c.RESTClient().Get().AbsPath(path)
	for i := 0; i < len(params); i += 2 {
		request = request.Param(params[i], params[i+1])
	}
	result := request.Do(t.Context())
	if result.Error() != nil {
		return nil, result.Error()
	}
	return result.Raw()
}

// readHistory returns the history of an object, and a line for each version.
func readHistory(t *testing.T, c *kubernetes.Clientset, path string) (history.History, []string) {
	t.Helper()
	body, err := raw(t, c, path+"/history")
	check(t, err)
	var h history.History
	check(t, json.Unmarshal(body, &h))
	var lines []string
	for _, v := range h.Versions {
		who := "unknown"
		if v.Writer != nil {
			who = v.Writer.Verb + " by " + v.Writer.UserAgent
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %d, %s: %s", v.Event, v.Version, who, strings.Join(v.Fields, " "))))
	}
	return h, lines
}

// live makes five versions of a Deployment in two generations.
func live(t *testing.T, server *miniapi.Server) *kubernetes.Clientset {
	t.Helper()
	first, _ := client(t, server, "first")
	second, _ := client(t, server, "second")
	deployments := first.AppsV1().Deployments("default")
	created, err := deployments.Create(t.Context(), deployment(), metav1.CreateOptions{})
	check(t, err)
	bump(created)
	_, err = second.AppsV1().Deployments("default").Update(t.Context(), created, metav1.UpdateOptions{})
	check(t, err)
	check(t, deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	_, err = deployments.Create(t.Context(), deployment(), metav1.CreateOptions{})
	check(t, err)
	_, err = second.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{})
	check(t, err)
	return first
}

func TestHistoryAcrossDeletion(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c := live(t, server)
	h, lines := readHistory(t, c, webPath)
	want := []string{
		"Created 1, create by first/v1:",
		"Updated 2, update by second/v1: .metadata.labels.biz-version",
		"Deleted 0, delete by first/v1:",
		"Created 1, create by first/v1:",
		"Updated 2, patch by second/v1: .spec.replicas",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if h.Versions[1].CreateRevision != h.Versions[0].ResourceVersion || h.Oldest != "1" || h.Resource != "deployments.apps" {
		t.Errorf("history %+v", h)
	}
	check(t, c.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	if _, lines := readHistory(t, c, webPath); len(lines) != 6 || !strings.HasPrefix(lines[5], "Deleted") {
		t.Errorf("a deleted object: %q", lines)
	}
	if _, err := raw(t, c, webPath+"-other/history"); !apierrors.IsNotFound(err) {
		t.Errorf("an object that never existed: %v", err)
	}
}

// The paths of a Namespace's history and blame are those of a resource in the namespace for
// kube-apiserver. Its core group has no such resource, in any release.
func TestHistoryAndBlameOfNamespace(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c, _ := client(t, server, "first")
	_, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
	check(t, err)
	_, err = c.CoreV1().Namespaces().Patch(t.Context(), "shop", types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"a"}}}`), metav1.PatchOptions{})
	check(t, err)
	h, lines := readHistory(t, c, "/api/v1/namespaces/shop")
	want := []string{"Created 1, create by first/v1:", "Updated 2, patch by first/v1: .metadata.labels.team"}
	if diff := cmp.Diff(want, lines); diff != "" || h.Resource != "namespaces" || h.Name != "shop" || h.Namespace != "" {
		t.Errorf("history %+v, versions (-want +got):\n%s", h, diff)
	}
	body, err := raw(t, c, "/api/v1/namespaces/shop/blame")
	check(t, err)
	var b history.Blame
	check(t, json.Unmarshal(body, &b))
	if !slices.ContainsFunc(b.Fields, func(f history.Field) bool { return f.Path == ".metadata.labels.team" && f.Writer.Verb == "patch" }) {
		t.Errorf("blame %s", body)
	}
	if _, err := raw(t, c, "/api/v1/namespaces/other/history"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `namespaces "other" not found`) {
		t.Errorf("a namespace that never existed: %v", err)
	}
	off := servertest.Start(t, miniapi.Config{})
	without, _ := client(t, off, "first")
	if _, err := raw(t, without, "/api/v1/namespaces/default/history"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "could not find the requested resource") {
		t.Errorf("without the test APIs: %v", err)
	}
}

// An object can be read as of each revision, also between its own ones.
func TestGetAtExactRevision(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c := live(t, server)
	h, _ := readHistory(t, c, webPath)
	for i, want := range []string{"1 1", "2 1", "404", "1 1", "1 7"} {
		body, err := raw(t, c, webPath, "resourceVersion", h.Versions[i].ResourceVersion, "resourceVersionMatch", "Exact")
		got := "404"
		if !apierrors.IsNotFound(err) {
			check(t, err)
			var d appsv1.Deployment
			check(t, json.Unmarshal(body, &d))
			got = fmt.Sprint(d.Labels["biz-version"], " ", *d.Spec.Replicas)
			if d.ResourceVersion != h.Versions[i].ResourceVersion {
				t.Errorf("version %d has resourceVersion %s", i, d.ResourceVersion)
			}
		}
		if got != want {
			t.Errorf("version %d: got %s, want %s", i, got, want)
		}
	}
	for _, version := range []string{"", "0", "x"} {
		if _, err := raw(t, c, webPath, "resourceVersion", version, "resourceVersionMatch", "Exact"); !apierrors.IsBadRequest(err) {
			t.Errorf("resourceVersion %q: %v", version, err)
		}
	}
	if _, err := raw(t, c, webPath, "resourceVersion", "1000000", "resourceVersionMatch", "Exact"); !apierrors.IsTimeout(err) {
		t.Errorf("a revision of the future: %v", err)
	}
}

// A compaction keeps the state at its revision. Older revisions are a 410 that names the oldest.
func TestHistoryAfterCompaction(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c := live(t, server)
	before, _ := readHistory(t, c, webPath)
	last := before.Versions[len(before.Versions)-1].ResourceVersion
	var revision int64
	_, err := fmt.Sscan(last, &revision)
	check(t, err)
	_, err = c.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":8}}`), metav1.PatchOptions{})
	check(t, err)
	_, err = server.EtcdClient().Compact(t.Context(), revision)
	check(t, err)
	h, lines := readHistory(t, c, webPath)
	want := []string{"Updated 2, patch by second/v1:", "Updated 3, patch by first/v1: .spec.replicas"}
	if diff := cmp.Diff(want, lines); diff != "" || h.Oldest != last {
		t.Errorf("oldest %s, versions (-want +got):\n%s", h.Oldest, diff)
	}
	_, err = raw(t, c, webPath, "resourceVersion", before.Versions[0].ResourceVersion, "resourceVersionMatch", "Exact")
	text := "the oldest resource version that can be read is " + last
	if !apierrors.IsResourceExpired(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("a compacted revision: %v, want %q", err, text)
	}
}

// The first revisions can be compacted one by one.
func TestHistoryNamesOldestOfFirstRevisions(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c := live(t, server)
	for revision := int64(1); revision <= 3; revision++ {
		_, err := server.EtcdClient().Compact(t.Context(), revision)
		check(t, err)
		if h, _ := readHistory(t, c, webPath); h.Oldest != fmt.Sprint(revision) {
			t.Errorf("after a compaction at %d, the oldest resourceVersion is %s", revision, h.Oldest)
		}
	}
}

// widgets returns a directory with the CustomResourceDefinition of cluster-scoped widgets.
func widgets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, singular: widget, kind: Widget}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`), 0o600))
	return dir
}

func TestHistoryOfCustomResource(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{TestAPIs: true, CRDs: []string{widgets(t)}})
	c, _ := client(t, server, "first")
	dynamicClient, err := dynamic.NewForConfig(server.RESTConfig())
	check(t, err)
	resource := dynamicClient.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"size": int64(1)},
	}}
	_, err = resource.Create(t.Context(), object, metav1.CreateOptions{})
	check(t, err)
	_, err = resource.Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{})
	check(t, err)
	_, lines := readHistory(t, c, "/apis/example.com/v1/widgets/w")
	if len(lines) != 2 || !strings.HasSuffix(lines[1], ": .spec.size") {
		t.Errorf("versions %q", lines)
	}
}

// Without the test APIs there is no history and no blame, as in kube-apiserver, and the right to
// read an object does not include them.
func TestHistoryNeedsItsOwnRight(t *testing.T) {
	c := live(t, servertest.Start(t, miniapi.Config{Controllers: []string{"-*"}}))
	for _, subresource := range []string{"history", "blame"} {
		if _, err := raw(t, c, webPath+"/"+subresource); !apierrors.IsNotFound(err) {
			t.Errorf("%s without the test APIs: %v", subresource, err)
		}
	}
	if _, err := raw(t, c, webPath, "resourceVersion", "1", "resourceVersionMatch", "Exact"); err != nil {
		t.Errorf("without the test APIs the parameter is ignored: %v", err)
	}
	server := servertest.Start(t, miniapi.Config{TestAPIs: true, Authorization: miniapi.RBAC, Controllers: []string{"-*"}})
	live(t, server)
	config, err := server.AddUser("reader")
	check(t, err)
	reader, err := kubernetes.NewForConfig(config)
	check(t, err)
	for _, subresource := range []string{"history", "blame"} {
		_, err := raw(t, reader, webPath+"/"+subresource)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"deployments/`+subresource+`"`) {
			t.Errorf("%s without a role: %v", subresource, err)
		}
	}
}

// The history of a test is whole. Of a data directory or a cluster, which may live long, it is not.
func TestRetentionByDefault(t *testing.T) {
	etcd := servertest.Start(t, miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	for name, test := range map[string]struct {
		config miniapi.Config
		want   int64
	}{
		"a temporary directory": {miniapi.Config{TestAPIs: true}, 0},
		"a data directory":      {miniapi.Config{TestAPIs: true, DataDir: t.TempDir()}, 300},
		"a cluster":             {miniapi.Config{TestAPIs: true, EtcdServers: etcd.EtcdClientURLs()}, 300},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := client(t, servertest.Start(t, test.config), "reader")
			if got := activityOf[activity.Server](t, c, "servers")[0].Retention; got != test.want {
				t.Errorf("history is kept for %d s, want %d", got, test.want)
			}
		})
	}
}
