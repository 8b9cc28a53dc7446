package miniapitest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
)

// recorder is a testing.TB that records its output and failure.
type recorder struct {
	testing.TB // nil: only the methods below are called
	ctx        context.Context
	cleanups   []func()

	mu     sync.Mutex // guards the fields below
	log    bytes.Buffer
	failed bool
	over   bool
}

// runTest runs a test and its cleanups in the order of package testing: the context ends first,
// then the cleanups run in reverse order.
func runTest(test func(t testing.TB)) *recorder {
	ctx, cancel := context.WithCancel(context.Background())
	t := &recorder{ctx: ctx}
	ended := make(chan struct{})
	go func() { // a goroutine that Fatalf can end
		defer close(ended)
		test(t)
	}()
	<-ended
	cancel()
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return t
}

func (t *recorder) Helper()                  {}
func (t *recorder) Name() string             { return "TestRecorded" }
func (t *recorder) Context() context.Context { return t.ctx }
func (t *recorder) Cleanup(f func())         { t.cleanups = append(t.cleanups, f) }
func (t *recorder) Output() io.Writer        { return t }

func (t *recorder) Logf(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (t *recorder) Errorf(format string, args ...any) {
	t.Logf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *recorder) Fatal(args ...any) { t.Fatalf("%s", fmt.Sprint(args...)) }

func (t *recorder) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// Write panics after the end of the test, as package testing does.
func (t *recorder) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		panic("log after the test has ended")
	}
	return t.log.Write(p)
}
