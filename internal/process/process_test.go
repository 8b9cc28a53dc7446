package process_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/miniapi/miniapi/internal/process"
)

// role is the environment variable that makes the test binary act as another program.
const role = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "child": // ends with its standard input
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "parent": // starts an observer and ends with its standard input
		observer := program("observer")
		observer.Stdout = os.Stdout
		if err := observer.Start(); err != nil {
			fmt.Println(err)
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "observer": // reports the end of its parent
		parent := process.Parent()
		fmt.Println("observing")
		fmt.Println(parent.AwaitEnd(nil))
	default:
		os.Exit(m.Run())
	}
}

// program returns a command that runs the test binary in a role.
func program(name string) *exec.Cmd {
	self, _ := os.Executable()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), role+"="+name)
	return cmd
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAwaitEnd(t *testing.T) {
	child := program("child")
	input, err := child.StdinPipe()
	check(t, err)
	check(t, child.Start())
	found, err := process.Find(child.Process.Pid)
	check(t, err)
	stopped, err := process.Find(child.Process.Pid)
	check(t, err)
	done := make(chan struct{})
	close(done)
	if stopped.AwaitEnd(done) {
		t.Error("a running process counts as ended")
	}
	check(t, input.Close())
	check(t, child.Wait())
	if !found.AwaitEnd(nil) {
		t.Error("AwaitEnd returned false although done is not closed")
	}
	gone, err := process.Find(child.Process.Pid)
	check(t, err)
	if !gone.AwaitEnd(done) {
		t.Error("a process that has ended counts as running")
	}
}

// The observer is a grandchild of the test. It notices that the process between them was killed.
func TestParent(t *testing.T) {
	parent := program("parent")
	input, err := parent.StdinPipe()
	check(t, err)
	defer input.Close()
	output, observer, err := os.Pipe()
	check(t, err)
	defer output.Close()
	parent.Stdout = observer
	check(t, parent.Start())
	check(t, observer.Close())
	_ = output.SetReadDeadline(time.Now().Add(time.Minute)) // not supported on Windows

	var line string
	_, err = fmt.Fscanln(output, &line)
	if err != nil || line != "observing" {
		t.Fatalf("%q, %v", line, err)
	}
	check(t, parent.Process.Kill())
	_ = parent.Wait()
	rest, err := io.ReadAll(output)
	if err != nil || string(rest) != "true\n" {
		t.Errorf("the end of the parent was not noticed: %q, %v", rest, err)
	}
}
