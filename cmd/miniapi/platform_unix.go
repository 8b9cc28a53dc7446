//go:build unix

package main

import (
	"os"
	"syscall"
)

// detached returns the attributes of a process that outlives the terminal of this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// interrupt lets a child process end as if the user had pressed Ctrl-C.
func interrupt(child *os.Process) error { return child.Signal(os.Interrupt) }
