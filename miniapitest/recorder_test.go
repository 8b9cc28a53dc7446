package miniapitest_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder is a testing.TB that records its output and failure.
type recorder struct {
	testing.TB // nil: only the methods below are called
	cleanups   []func()

	mu     sync.Mutex // guards the fields below
	log    bytes.Buffer
	failed bool
	over   bool
}

// runTest runs a test to the end of its last cleanup, in the order of package testing.
func runTest(test func(t testing.TB)) *recorder {
	t := &recorder{}
	ended := make(chan struct{})
	go func() { // a goroutine that Fatalf can end
		defer close(ended)
		test(t)
	}()
	<-ended
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return t
}

func (t *recorder) Helper()          {}
func (t *recorder) Name() string     { return "TestRecorded" }
func (t *recorder) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

func (t *recorder) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

func (t *recorder) Log(args ...any) { t.Logf("%s", fmt.Sprint(args...)) }

// Logf panics when the test is over, as in package testing.
func (t *recorder) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		panic("log after the test has ended")
	}
	fmt.Fprintf(&t.log, format+"\n", args...)
}

func (t *recorder) Errorf(format string, args ...any) {
	t.Logf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *recorder) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}
