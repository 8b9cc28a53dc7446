// Package process waits for the end of processes that are not children of this process: the parent
// process, and processes that a client names by ID. The implementation depends on the operating
// system. On Linux and Windows a Process does not refer to a later process with the same ID.
package process

import (
	"os"
	"time"
)

// interval is the time between two checks.
const interval = 500 * time.Millisecond

// Process is a process of this machine.
type Process struct {
	pid     int
	running func() bool
	release func()
}

// Find returns the process with an ID. A process that does not exist counts as ended. An error
// means that this user may not observe the process.
func Find(pid int) (*Process, error) {
	p := &Process{pid: pid, release: func() {}}
	return p, p.open()
}

// Parent returns the process that started this one. It must be called early, while that process
// still runs.
func Parent() *Process {
	p := &Process{pid: os.Getppid(), release: func() {}}
	p.openParent()
	return p
}

// ID returns the ID of the process.
func (p *Process) ID() int { return p.pid }

// AwaitEnd returns true within a second after the end of the process, or false when done is closed
// before. It must be called only once.
func (p *Process) AwaitEnd(done <-chan struct{}) bool {
	defer p.release()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for p.running() {
		select {
		case <-done:
			return false
		case <-ticker.C:
		}
	}
	return true
}
