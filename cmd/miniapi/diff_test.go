package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
)

// The header names both resourceVersions, also of the present object.
func TestDiffPrintsChangedLines(t *testing.T) {
	server, created, patched := startWithConfigMap(t)
	want := fmt.Sprintf(`--- cm/c@%[1]s
+++ cm/c@%[2]s
@@ -1,10 +1,11 @@
 apiVersion: v1
 data:
+  k: v
   kept: same
 kind: ConfigMap
 metadata:
   creationTimestamp: TIME
   name: c
   namespace: default
-  resourceVersion: "%[1]s"
+  resourceVersion: "%[2]s"
   uid: UID
`, created, patched)
	for _, second := range [][]string{{"@" + patched}, {"cm/c@" + patched}, {"cm/c"}, {}} {
		args := append([]string{"diff", "cm/c@" + created}, second...)
		out, err := runMiniapi(t, append(args, "--server", server.URL())...)
		if err != (exitError{code: exitDiffers}) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, withoutIdentity(out)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", args, diff)
		}
	}
	out, err := runMiniapi(t, "diff", "cm/c@"+patched, "--server", server.URL())
	if err != nil || out != "" {
		t.Errorf("equal versions: %v\n%s", err, out)
	}
}

// withoutIdentity replaces the values that differ from run to run.
func withoutIdentity(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		for field, value := range map[string]string{"   creationTimestamp: ": "TIME", "   uid: ": "UID"} {
			if strings.HasPrefix(line, field) {
				line = field + value + "\n"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

func TestDiffNamesVersionsThatCannotBeRead(t *testing.T) {
	server, created, patched := startWithConfigMap(t)
	revision, err := strconv.ParseInt(created, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.EtcdClient().Put(t.Context(), "/other", ""); err != nil {
		t.Fatal(err)
	}
	latest, err := server.EtcdClient().Get(t.Context(), "/other")
	if err != nil {
		t.Fatal(err)
	}
	other := strconv.FormatInt(latest.Header.Revision, 10)
	before := strconv.FormatInt(revision-1, 10)
	for args, want := range map[string]string{
		"cm/c@" + before:                  "the object did not exist at this resourceVersion (see miniapi history cm/c)",
		"cm/c@" + other:                   "not a version of the object, which was at " + patched + " then (see miniapi history cm/c)",
		"cm/c@" + created + " cm/missing": `configmaps "missing" not found`,
		"cm/c":                            "diff takes one or two different versions",
		"cm/c cm/c":                       "diff takes one or two different versions",
		"@5":                              "diff takes one or two different versions",
		"cm/c@0":                          `"cm/c@0": diff takes one or two different versions`,
		"cm/c@5 @5":                       "diff takes one or two different versions",
		"cm/c@5 @6 @7":                    "diff takes one or two different versions",
	} {
		checkDiffError(t, server, args, want)
	}
	if revision, err = strconv.ParseInt(patched, 10, 64); err != nil {
		t.Fatal(err)
	}
	if _, err := server.EtcdClient().Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	checkDiffError(t, server, "cm/c@"+created, "diff of cm/c@"+created+": resource version "+created+
		" is compacted: the oldest resource version that can be read is "+patched)
}

// checkDiffError checks that miniapi diff fails with one line that contains a text.
func checkDiffError(t *testing.T, server *miniapi.Server, args, want string) {
	t.Helper()
	_, err := runMiniapi(t, append(strings.Fields("diff "+args), "--server", server.URL())...)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, want %q", args, err, want)
	}
	if exit, ok := err.(exitError); !ok || exit.code != exitTrouble {
		t.Errorf("%s: exit code of %#v, want %d", args, err, exitTrouble)
	}
}

func TestDiffNeedsTestAPIs(t *testing.T) {
	server, err := miniapi.Start(t.Context(), miniapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(t.Context())
	_, err = runMiniapi(t, "diff", "ns/default@1", "--server", server.URL())
	if err == nil || !strings.Contains(err.Error(), "start it with --enable-test-apis") {
		t.Errorf("without the test APIs: %v", err)
	}
}
