//go:build unix

package listener

import "syscall"

// errInUse is the error of listening on a port that another process uses.
const errInUse = syscall.EADDRINUSE
