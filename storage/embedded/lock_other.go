//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package embedded

import "os"

// tryLock does nothing: on these systems only the lock of the data directory protects the
// database.
func tryLock(*os.File) error { return nil }
