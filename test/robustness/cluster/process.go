package cluster

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is the time after which a process that does not end on SIGTERM is killed.
const stopTimeout = 2 * time.Minute

// Process is a program that can be started again after its end. Its methods may be called
// concurrently.
type Process struct {
	Name string
	path string
	args []string
	env  []string
	log  string // file that receives the output of all runs

	mu   sync.Mutex // guards the fields below
	cmd  *exec.Cmd  // nil: not started
	done chan struct{}
}

// Start starts the program. It is an error if the program runs.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return fmt.Errorf("start %s: it runs", p.Name)
	}
	output, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	cmd := exec.Command(p.path, p.args...)
	cmd.Env = slices.Concat(os.Environ(), p.env, []string{clockMarker + "=" + p.clockFile()})
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	go func() { // ends with the process
		_ = cmd.Wait() // reports the signal of a killed process
		close(done)
	}()
	return nil
}

func (p *Process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Running reports whether the process runs. A paused process runs.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// PID returns the ID of the last process.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// Done returns a channel that is closed when the current process has ended.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Kill ends the process with SIGKILL and waits for its end.
func (p *Process) Kill() {
	p.signal(os.Kill)
	<-p.Done()
}

// Stop ends the process with SIGTERM and waits for its end.
func (p *Process) Stop() error {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.Done():
		return nil
	case <-time.After(stopTimeout):
		p.Kill()
		return fmt.Errorf("%s has not stopped within %v of SIGTERM\n%s", p.Name, stopTimeout, p.Output())
	}
}

func (p *Process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // fails if it has ended
}

// Pause stops the process until Resume.
func (p *Process) Pause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pause(p.cmd.Process)
}

// Resume continues a paused process.
func (p *Process) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return resume(p.cmd.Process)
}

// outputEnd is the size of the end of the output that Output returns.
const outputEnd = 4 << 10

// Output returns the end of the output of the process.
func (p *Process) Output() string {
	file, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > outputEnd {
		_, _ = file.Seek(-outputEnd, io.SeekEnd) // then the whole output is returned
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
