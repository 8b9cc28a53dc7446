//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

func (p *Process) open() error {
	found, err := os.FindProcess(p.pid) // on Linux, opens the process
	if err != nil {
		return err
	}
	// Signal 0 is not delivered; sending it shows whether the process exists.
	p.running = func() bool { return !errors.Is(found.Signal(syscall.Signal(0)), os.ErrProcessDone) }
	p.release = func() { _ = found.Release() }
	return nil
}

// openParent relies on the fact that a process gets another parent when its parent ends. The old
// parent can exist for longer, as a zombie.
func (p *Process) openParent() {
	p.running = func() bool { return os.Getppid() == p.pid }
}
