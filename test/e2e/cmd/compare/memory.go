package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
)

// marker is an environment variable that is inherited by all processes that a way starts.
const marker = "MINIAPI_COMPARE"

// memory returns the resident memory of this process and of all processes that it started, in
// bytes. On systems without /proc it returns 0.
func memory() int64 {
	debug.FreeOSMemory()
	value := []byte(marker + "=" + os.Getenv(marker) + "\x00")
	processes, _ := filepath.Glob("/proc/[0-9]*/environ")
	total := int64(0)
	for _, environ := range processes {
		env, err := os.ReadFile(environ)
		if err == nil && bytes.Contains(append(env, 0), value) {
			total += resident(filepath.Dir(environ))
		}
	}
	return total
}

// resident returns the resident memory of a process, or 0 if it has ended.
func resident(proc string) int64 {
	data, _ := os.ReadFile(filepath.Join(proc, "statm"))
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}
