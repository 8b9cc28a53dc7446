// Package stack grows the stacks of goroutines in one step.
//
// A goroutine starts with a few kilobytes of stack, and each doubling copies the frames in use and
// adjusts all pointers to them. A request would grow its stack three times, each time below more
// frames.
package stack

// reserved is the size in bytes that most requests use.
const reserved = 12 << 10

// Reserve grows the stack of the calling goroutine to the size that most requests use. It is called
// at the beginning of a goroutine, when there is little to copy.
//
//go:noinline
func Reserve() {
	var frame [reserved]byte
	touch(&frame)
}

//go:noinline
func touch(frame *[reserved]byte) { frame[0] = 1 }
