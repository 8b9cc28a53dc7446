//go:build !windows

package encryption

// modesAreKept reports whether files have the modes of Unix.
const modesAreKept = true
