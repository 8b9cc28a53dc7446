package main

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// snapshotFile unpacks a snapshot of test/integration/backups, whose README.md lists the changes.
func snapshotFile(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("..", "..", "test", "integration", "backups", "testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	path := filepath.Join(t.TempDir(), name)
	if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

const allDifferences = `created  configmaps shop/flags
changed  configmaps shop/settings
changed  deployments.apps shop/web
deleted  ipaddresses.networking.k8s.io 10.0.0.171
created  ipaddresses.networking.k8s.io 10.0.0.190
deleted  recipes.kitchen.example.com shop/bread
created  recipes.kitchen.example.com shop/cake
changed  secrets shop/database
replaced services shop/web
`

// The addresses of the Service are objects too. The definition with a conversion webhook is
// compared in the version that can be read.
func TestDiffOfSnapshots(t *testing.T) {
	before, after := snapshotFile(t, "before.db"), snapshotFile(t, "after.db")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"all objects":   {nil, allDifferences},
		"a type":        {[]string{"deploy"}, "changed  deployments.apps shop/web\n"},
		"a custom type": {[]string{"rec"}, "deleted  recipes.kitchen.example.com shop/bread\ncreated  recipes.kitchen.example.com shop/cake\n"},
		"an object":     {[]string{"cm/settings"}, "changed  configmaps shop/settings\n"},
		"a namespace":   {[]string{"cm", "-n", "shop"}, "created  configmaps shop/flags\nchanged  configmaps shop/settings\n"},
		"no difference": {[]string{"-n", "default"}, ""},
		"a webhook":     {[]string{"orders"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runMiniapi(t, append([]string{"diff", "--brief", "--from-snapshot", before, "--to-snapshot", after}, test.args...)...)
			if differ := err == (exitError{code: exitDiffers}); differ != (test.want != "") || !differ && err != nil {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.want, out); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDiffOfSnapshotsPrintsObjects(t *testing.T) {
	before, after := snapshotFile(t, "before.db"), snapshotFile(t, "after.db")
	out, err := runMiniapi(t, "diff", "--from-snapshot", before, "--to-snapshot", after, "secrets")
	if err != (exitError{code: exitDiffers}) {
		t.Fatal(err)
	}
	want := `--- before.db: secrets shop/database@210
+++ after.db: secrets shop/database@231
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  password: '*** (before)'
+  password: '*** (after)'
 kind: Secret
 metadata:
   annotations:
@@ -8,6 +8,6 @@
   creationTimestamp: "2026-11-22T19:13:24Z"
   name: database
   namespace: shop
-  resourceVersion: "210"
+  resourceVersion: "231"
   uid: 7fa8d06e-b629-48e8-8213-87b4d5a8bab4
 type: Opaque
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("a Secret (-want +got)\n%s", diff)
	}
	out, _ = runMiniapi(t, "diff", "--from-snapshot", before, "--to-snapshot", after, "cm/flags")
	if !strings.HasPrefix(out, "--- /dev/null\n+++ after.db: configmaps shop/flags@234\n@@ -0,0 +1,10 @@\n+apiVersion: v1\n+data:\n") {
		t.Errorf("a new object:\n%s", out)
	}
}

func TestErrorsOfSnapshotDiffs(t *testing.T) {
	file := snapshotFile(t, "after.db")
	for name, test := range map[string]struct {
		args []string
		text string
	}{
		"one snapshot":   {[]string{"--to-snapshot", file}, "name it with --from-snapshot"},
		"no such file":   {[]string{"--from-snapshot", file, "--to-snapshot", "missing.db"}, "--to-snapshot: start embedded etcd: open missing.db"},
		"two objects":    {[]string{"--from-snapshot", file, "--to-snapshot", file, "a", "b"}, "one type or object at most"},
		"unknown type":   {[]string{"--from-snapshot", file, "--to-snapshot", file, "nothing"}, `neither snapshot has a resource type "nothing"`},
		"and a server":   {[]string{"--from-snapshot", file, "--to-snapshot", file, "--server", "http://127.0.0.1:1"}, "--from-snapshot is read instead of a server"},
		"brief versions": {[]string{"--from-snapshot", file, "--brief", "cm/a@1", "@2"}, "--brief is for --to-snapshot"},
		"unknown flag":   {[]string{"--nothing"}, "unknown flag: --nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runMiniapi(t, append([]string{"diff"}, test.args...)...)
			if exit, ok := err.(exitError); !ok || exit.code != exitTrouble || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %#v, want %q", err, test.text)
			}
		})
	}
}

// The subcommands that read one object read it from a snapshot too.
func TestObjectsOfASnapshot(t *testing.T) {
	file := snapshotFile(t, "after.db")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"history", "cm/settings"}, "208               Created   1"},
		{[]string{"blame", "rec/soup"}, ".spec.servings "},
		{[]string{"diff", "deploy/web@225", "@232"}, "-  replicas: 2\n+  replicas: 3\n"},
	} {
		out, _ := runMiniapi(t, append(test.args, "-n", "shop", "--from-snapshot", file)...)
		if !strings.Contains(out, test.want) {
			t.Errorf("%v:\n%s", test.args, out)
		}
	}
}
