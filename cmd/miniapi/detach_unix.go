//go:build unix

package main

import "syscall"

// detached returns the attributes of a process that does not end with the session of this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
