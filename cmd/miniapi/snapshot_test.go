package main

import (
	"context"
	"strings"
	"testing"

	"github.com/miniapi/miniapi"
)

func TestSnapshotAndRestore(t *testing.T) {
	server, created, _ := startWithConfigMap(t)
	run := func(args ...string) (string, error) { return runMiniapi(t, append(args, "--server", server.URL())...) }
	if out, err := run("snapshot", "before"); err != nil || out != "before\n" {
		t.Errorf("snapshot: %v: %s", err, out)
	}
	if out, err := run("snapshot"); err != nil || !strings.HasPrefix(out, "snapshot-") {
		t.Errorf("a generated name: %v: %s", err, out)
	}
	if out, err := run("restore", "before"); err != nil || out != "" {
		t.Errorf("restore: %v: %s (created at %s)", err, out, created)
	}
	if _, err := run("restore", "absent"); err == nil || err.Error() != `snapshots.miniapi.dev "absent" not found` {
		t.Errorf("an absent snapshot: %v", err)
	}
	if _, err := run("snapshot", "before"); err == nil || err.Error() != `snapshots.miniapi.dev "before" already exists` {
		t.Errorf("a name that exists: %v", err)
	}
	if out, err := run("top"); err != nil || !strings.Contains(out, "\nminiapi ") {
		t.Errorf("the requests do not have the name of the command: %v\n%s", err, out)
	}
	off, err := miniapi.Start(t.Context(), miniapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = off.Stop(context.Background()) })
	if _, err := runMiniapi(t, "snapshot", "--server", off.URL()); err == nil || !strings.HasSuffix(err.Error(), ": the server has no snapshots: start miniapi with --enable-test-apis") {
		t.Errorf("without the test APIs: %v", err)
	}
}
