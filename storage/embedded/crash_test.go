package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/storage/embedded"
)

// crashDir is the environment variable that makes the test binary a server on
// that data directory, which writes until it is killed.
const crashDir = "EMBEDDED_TEST_CRASH_DIR"

func TestAcknowledgedWritesSurviveACrash(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		acknowledged := crash(t, dir, 200)
		server := start(t, embedded.Config{DataDir: dir})
		got := get(t, server.Client(), "/a")
		if got < acknowledged {
			t.Errorf("round %d: %s was acknowledged, but %s is there", round, acknowledged, got)
		}
		stop(t, server)
	}
}

// crash runs a server in a process of its own, kills it after so many writes
// and returns the last one that it acknowledged before.
func crash(t *testing.T, dir string, writes int) string {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+dir)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for range writes {
		if !lines.Scan() {
			t.Fatal("the child has ended by itself")
		}
	}
	last := lines.Text()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "v") { // the very last line may be cut off
			last = max(last, lines.Text())
		}
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child has ended by itself")
	}
	return last
}

// writeUntilKilled prints each value once it is acknowledged. Values rise, over
// all rounds.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	server, err := embedded.Start(ctx, embedded.Config{DataDir: dir})
	if err != nil {
		panic(err)
	}
	for {
		revision, err := server.Client().Get(ctx, "/none")
		if err != nil {
			panic(err)
		}
		value := fmt.Sprintf("v%010d", revision.Header.Revision)
		if _, err := server.Client().Put(ctx, "/a", value); err != nil {
			panic(err)
		}
		fmt.Println(value)
	}
}
