package host

import "os"

// processExists reports whether a process with this ID exists.
func processExists(pid int) bool {
	process, err := os.FindProcess(pid) // opens the process on Windows
	if err != nil {
		return false
	}
	return process.Release() == nil
}
