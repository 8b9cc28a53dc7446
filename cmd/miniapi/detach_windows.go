package main

import "syscall"

// detachedProcess is DETACHED_PROCESS of CreateProcess: the process has no console.
const detachedProcess = 0x00000008

// detached returns the attributes of a process that does not end with the console of this one.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
