//go:build unix

package tempdir

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether the directory belongs to the user of this process.
func isOwn(entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
