package stack

import (
	"testing"
	"unsafe"
)

// frames uses about n kilobytes of stack.
//
//go:noinline
func frames(n int) byte {
	if n == 0 {
		return 0
	}
	var frame [1 << 10]byte
	frame[n] = frames(n - 1)
	return frame[n/2]
}

// address returns the address of a variable on the stack.
//
//go:noinline
func address(variable *byte) uintptr { return uintptr(unsafe.Pointer(variable)) }

// A goroutine with a reserved stack does not move it, as long as it uses no more.
func TestReserve(t *testing.T) {
	moved := make(chan bool)
	go func() { // ends with the send
		Reserve()
		var variable byte
		before := address(&variable)
		frames(8)
		moved <- address(&variable) != before
	}()
	if <-moved {
		t.Error("the stack grew again")
	}
}

func BenchmarkReserve(b *testing.B) {
	for name, reserve := range map[string]func(){"without": func() {}, "with": Reserve} {
		b.Run(name, func(b *testing.B) {
			done := make(chan struct{})
			for b.Loop() {
				go func() { // ends with the send
					reserve()
					frames(10)
					done <- struct{}{}
				}()
				<-done
			}
		})
	}
}
