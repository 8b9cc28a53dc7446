package leaktest

import (
	"testing"
	"time"
)

func TestFindAwaitsTheEndOfGoroutines(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	time.AfterFunc(time.Second, func() { close(end) }) // later than goleak waits
	if err := Find(); err != nil {
		t.Error(err)
	}
	select {
	case <-end:
	default:
		t.Error("the goroutine was not found")
	}
}
