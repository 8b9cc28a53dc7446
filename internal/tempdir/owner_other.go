//go:build !unix

package tempdir

import "io/fs"

// isOwn returns true: every user has a temporary directory of their own.
func isOwn(fs.DirEntry) bool { return true }
