package cluster

import "syscall"

// attributes lets the system kill a process when the test ends, also when the test is killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
