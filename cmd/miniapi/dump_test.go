package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

const dumpedObjects = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: shop}, spec: {size: 3}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop, labels: {a: b}}, data: {k: v}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {k: "1"}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, stringData: {password: x}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {type: NodePort, ports: [{port: 80}], selector: {app: web}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: shop}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk, namespace: shop}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: joe}]
`

// startWith starts a server with the manifests of a folder.
func startWith(t *testing.T, config miniapi.Config) *miniapi.Server {
	t.Helper()
	config.Authorization, config.Secure, config.Listen = miniapi.RBAC, nil, "127.0.0.1:0"
	return servertest.Start(t, config)
}

// dump returns the files of a dump by name.
func dump(t *testing.T, dir string, args ...string) map[string]string {
	t.Helper()
	if _, err := runMiniapi(t, append([]string{"dump", dir}, args...)...); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

func names(files map[string]string) []string {
	var list []string
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func TestManifestsRestoreADump(t *testing.T) {
	folder, restored := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "all.yaml"), []byte(dumpedObjects), 0o600); err != nil {
		t.Fatal(err)
	}
	first := startWith(t, miniapi.Config{Manifests: folder, Bootstrap: "full"})
	before := dump(t, restored, "--server", first.URL(), "--secrets")
	want := []string{
		"0-customresourcedefinitions.apiextensions.k8s.io.yaml", "1-namespaces.yaml", "2-configmaps.yaml", "2-deployments.apps.yaml",
		"2-jobs.batch.yaml", "2-persistentvolumeclaims.yaml", "2-rolebindings.rbac.authorization.k8s.io.yaml", "2-secrets.yaml",
		"2-services.yaml", "2-widgets.example.com.yaml",
	}
	if diff := cmp.Diff(want, names(before)); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	configMaps := "apiVersion: v1\ndata:\n  k: \"1\"\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n---\n" +
		"apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  labels:\n    a: b\n  name: b\n  namespace: shop\n"
	if diff := cmp.Diff(configMaps, before["2-configmaps.yaml"]); diff != "" {
		t.Errorf("ConfigMaps (-want +got)\n%s", diff)
	}
	second := startWith(t, miniapi.Config{Manifests: restored})
	after := dump(t, t.TempDir(), "--server", second.URL(), "--secrets")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the dump of the restored objects (-before +after)\n%s", diff)
	}
}

func TestDumpSelectsObjects(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "all.yaml"), []byte(dumpedObjects), 0o600); err != nil {
		t.Fatal(err)
	}
	server := startWith(t, miniapi.Config{Manifests: folder})
	for rule, tc := range map[string]struct {
		args []string
		want []string
	}{
		"types":          {[]string{"cm", "deployments.apps"}, []string{"2-configmaps.yaml", "2-deployments.apps.yaml"}},
		"a namespace":    {[]string{"cm", "ns", "-n", "shop"}, []string{"2-configmaps.yaml"}},
		"Secrets":        {[]string{"secrets", "--secrets"}, []string{"2-secrets.yaml"}},
		"a missing type": {[]string{"pods"}, nil},
	} {
		if diff := cmp.Diff(tc.want, names(dump(t, t.TempDir(), append(tc.args, "--server", server.URL())...))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", rule, diff)
		}
	}
	exact := dump(t, t.TempDir(), "deploy", "--exact", "--server", server.URL())["2-deployments.apps.yaml"]
	for _, field := range []string{"uid:", "managedFields:", "resourceVersion:", "status:"} {
		if !strings.Contains(exact, field) {
			t.Errorf("an exact dump has no %s\n%s", field, exact)
		}
	}
	if _, err := runMiniapi(t, "dump", folder); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a dump into a directory with files returned %v", err)
	}
	for kind, want := range map[string]string{
		"secrets": "secrets are not written: add --secrets, or remove the type",
		"ev":      "events are not written: they expire: remove the type",
	} {
		if _, err := runMiniapi(t, "dump", t.TempDir(), "deploy", kind, "--server", server.URL()); err == nil || err.Error() != want {
			t.Errorf("a dump of %s returned %v, want %q", kind, err, want)
		}
	}
	one := t.TempDir()
	if out, err := runMiniapi(t, "dump", one, "deploy", "--server", server.URL()); err != nil || out != "1 object in 1 file of "+one+"\n" {
		t.Errorf("a dump of one object printed %q, %v", out, err)
	}
	if _, err := runMiniapi(t, "dump", t.TempDir(), "nothings", "--server", server.URL()); err == nil || !strings.Contains(err.Error(), `no resource type "nothings"`) {
		t.Errorf("a dump of an unknown type returned %v", err)
	}
}
