package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached returns the attributes of a process that outlives the console of this one.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// interrupt does nothing: Ctrl-C and the end of a console reach all processes of the console, so
// the child has the event already.
func interrupt(*os.Process) error { return nil }
