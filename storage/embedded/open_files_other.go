//go:build !linux

package embedded

import "errors"

// detachOpenFiles is supported on Linux only, where the open files of a process can be listed.
func detachOpenFiles(string) error { return errors.ErrUnsupported }
