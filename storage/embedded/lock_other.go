//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package embedded

import "os"

// tryLock does nothing: here only the lock on the data directory protects the
// database.
func tryLock(*os.File) error { return nil }
