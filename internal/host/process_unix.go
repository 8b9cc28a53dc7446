//go:build unix

package host

import (
	"errors"
	"syscall"
)

// processExists reports whether a process with this ID exists.
func processExists(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
