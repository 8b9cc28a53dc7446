//go:build !linux

package embedded_test

// fillDisk is a child of TestFullDisk, which needs the mounts of Linux.
func fillDisk(string) { panic("this system has no test of a full disk") }
