package bench

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		b.Fatal(err)
	}
	var creation, exit, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &creation, &exit, &kernel, &user); err != nil {
		b.Fatal(err)
	}
	return duration(kernel) + duration(user)
}

// duration converts a duration in units of 100 nanoseconds.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32+int64(t.LowDateTime)) * 100
}
