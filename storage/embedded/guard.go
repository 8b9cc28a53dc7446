package embedded

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// guard keeps etcd from ending the process. etcd answers what it cannot cope
// with by logging at level Fatal or Panic, on whichever goroutine it happens.
// As a hook of its logger the guard ends that goroutine only, and tells.
type guard struct {
	once sync.Once
	// failed is closed when etcd has given up; err says why from then on.
	failed chan struct{}
	err    error
}

func newGuard() *guard { return &guard{failed: make(chan struct{})} }

// options make a zap logger report to the guard.
func (g *guard) options() []zap.Option {
	return []zap.Option{zap.WithFatalHook(g), zap.WithPanicHook(g)}
}

// OnWrite implements zapcore.CheckWriteHook.
func (g *guard) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		if cause, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	g.fail(err)
	runtime.Goexit()
}

func (g *guard) fail(err error) {
	g.once.Do(func() {
		g.err = err
		close(g.failed)
	})
}

// call runs f on a goroutine of its own and waits for its end, or for etcd
// giving up on that or another goroutine; f may then be stuck for good. A panic
// or a memory fault (a mapped file that is shorter than it claims) is an error.
func (g *guard) call(f func() error) error {
	returned := make(chan error, 1)
	go func() { // owned by this call
		defer func() {
			if cause := recover(); cause != nil {
				g.fail(fmt.Errorf("%v", cause))
			}
		}()
		debug.SetPanicOnFault(true)
		returned <- f()
	}()
	select {
	case err := <-returned:
		return err
	case <-g.failed:
		return g.err
	}
}
