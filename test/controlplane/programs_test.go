package controlplane

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	programsDir = flag.String("programs", "../../bin/controlplane-1.37", "`DIR` of the programs that make controlplane builds")
	miniapiFile = flag.String("miniapi", "../../bin/miniapi", "`FILE` of miniapi")
	keepLogs    = flag.String("logs", "", "`DIR` to keep the logs of the programs in")
)

// process is a running program in a process group of its own.
type process struct {
	command string
	cmd     *exec.Cmd
	log     *os.File
	ended   chan struct{}
}

// start runs a command line until the test ends or stop is called.
func (c *cluster) start(command string) *process {
	c.t.Helper()
	name, _, _ := strings.Cut(command, " ")
	log, err := os.OpenFile(filepath.Join(c.logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(c.t, err)
	p := &process{command: command, log: log, ended: make(chan struct{})}
	p.cmd = exec.Command("sh", "-c", "exec "+command)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = c.dir, c.env, log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	check(c.t, p.cmd.Start())
	go func() { // ends with the program, which stop ends
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	c.t.Cleanup(func() { p.stop(syscall.SIGKILL) })
	return p
}

// stop sends a signal and waits until the program has ended.
func (p *process) stop(signal syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, signal)
	<-p.ended
	_ = p.log.Close()
}

// running reports whether the program runs.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// cpu returns the CPU time of a program that has ended.
func (p *process) cpu() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// script runs a script to its end and returns its output. A failed command ends it.
func (c *cluster) script(t *testing.T, dir, text string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", text)
	cmd.Dir, cmd.Env = dir, append(append([]string{}, c.env...), env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	return output.String(), err
}

func (c *cluster) mustRun(t *testing.T, text string, env ...string) string {
	t.Helper()
	output, err := c.script(t, c.dir, text, env...)
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, text, output)
	}
	return output
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// requirePrograms returns an error if a program is missing.
func requirePrograms() error {
	for _, file := range []string{
		*miniapiFile, filepath.Join(*programsDir, "kube-controller-manager"), filepath.Join(*programsDir, "kwok-stages.yaml"),
	} {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%w: build the programs by make controlplane", err)
		}
	}
	return nil
}
