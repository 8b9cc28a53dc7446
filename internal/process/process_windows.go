package process

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func (p *Process) open() error {
	found, err := os.FindProcess(p.pid)                  // opens the process
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) { // there is no such process
		p.running = never
		return nil
	}
	if err != nil {
		return err
	}
	p.running = func() bool { return !ended(found) }
	p.release = func() { _ = found.Release() }
	return nil
}

// openParent compares the times of creation, since the ID of a parent that has ended may belong to
// a newer process. A parent that this user may not observe counts as running.
func (p *Process) openParent() {
	if p.open() != nil {
		p.running = always
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return
	}
	defer self.Release()
	if parent, err := os.FindProcess(p.pid); err == nil {
		defer parent.Release()
		if created(parent) > created(self) {
			p.running = never
		}
	}
}

// ended reports whether a process has ended: then its handle is signaled.
func ended(process *os.Process) bool {
	event := uint32(windows.WAIT_FAILED)
	_ = process.WithHandle(func(handle uintptr) {
		event, _ = windows.WaitForSingleObject(windows.Handle(handle), 0)
	})
	return event == windows.WAIT_OBJECT_0
}

// created returns the time at which a process was created, or 0.
func created(process *os.Process) int64 {
	var creation, exit, kernel, user windows.Filetime
	_ = process.WithHandle(func(handle uintptr) {
		_ = windows.GetProcessTimes(windows.Handle(handle), &creation, &exit, &kernel, &user)
	})
	return creation.Nanoseconds()
}

func always() bool { return true }

func never() bool { return false }
