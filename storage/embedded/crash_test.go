package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/storage/embedded"
)

// These environment variables make the test binary run one of the child functions on a data
// directory instead of the tests. Child processes are used where the process dies or etcd leaves
// goroutines behind.
const (
	childFunc = "EMBEDDED_TEST_CHILD"
	childDir  = "EMBEDDED_TEST_DIR"
)

var children = map[string]func(dir string){
	"write until killed":      writeUntilKilled,
	"lose the data directory": loseDataDir,
	"fill the disk":           fillDisk,
}

func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childFunc+"="+name, childDir+"="+dir)
	command.Stderr = os.Stderr
	return command
}

func TestAcknowledgedWritesSurviveCrash(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		acknowledged := crash(t, dir, 200)
		server := start(t, embedded.Config{DataDir: dir})
		if got := get(t, server.Client(), "/a"); got < acknowledged {
			t.Errorf("round %d: %s was acknowledged, but %s is stored", round, acknowledged, got)
		}
		stop(t, server)
	}
}

// crash runs a server in a child process, kills it after the given number of writes and returns
// the last acknowledged value.
func crash(t *testing.T, dir string, writes int) string {
	t.Helper()
	command := child(t, "write until killed", dir)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines, last := bufio.NewScanner(output), ""
	for range writes {
		if !lines.Scan() {
			t.Fatal("the child process ended by itself")
		}
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// An incomplete line sorts before the complete line.
	for last = lines.Text(); lines.Scan(); {
		last = max(last, lines.Text())
	}
	if err := command.Wait(); err == nil {
		t.Fatal("the child process ended by itself")
	}
	return last
}

// writeUntilKilled writes ascending values and prints each one when it is acknowledged. The values
// also ascend over restarts.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	server, err := embedded.Start(ctx, embedded.Config{DataDir: dir})
	if err != nil {
		panic(err)
	}
	for {
		now, err := server.Client().Get(ctx, "/a")
		if err != nil {
			panic(err)
		}
		value := fmt.Sprintf("%010d", now.Header.Revision)
		if _, err := server.Client().Put(ctx, "/a", value); err != nil {
			panic(err)
		}
		fmt.Println(value)
	}
}

// etcd gives up and leaves deadlocked goroutines, so the test runs in a child process.
func TestServerThatGaveUpReportsErrorAndCloses(t *testing.T) {
	output, err := child(t, "lose the data directory", t.TempDir()).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Either the write or the purge of old files, of the log, snapshots or databases, fails first.
	want := regexp.MustCompile(`^ended: embedded etcd gave up: failed to (save Raft hard state and entries|purge [a-z ]+ file): .*
closed: (embedded etcd has not stopped within 1s|<nil>)
$`)
	if !want.Match(output) {
		t.Errorf("want %v, got\n%s", want, output)
	}
}

func loseDataDir(dir string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := embedded.Start(ctx, embedded.Config{DataDir: dir})
	if err != nil {
		panic(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	go func() { // ends with the server
		<-server.Done()
		cancel()
	}()
	for ctx.Err() == nil {
		_, _ = server.Client().Put(ctx, "/a", strings.Repeat("x", 1<<20))
	}
	fmt.Println("ended:", server.Err())
	fmt.Println("closed:", server.Close(context.Background()))
}
