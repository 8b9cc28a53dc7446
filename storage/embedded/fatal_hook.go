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

// fatalHook keeps etcd from ending the process. etcd logs errors that it cannot handle at level
// Fatal or Panic, on any goroutine. As a hook of the logger, fatalHook ends only that goroutine
// and records the error.
type fatalHook struct {
	once sync.Once
	// failed is closed when etcd has given up. err is set before and holds the reason.
	failed chan struct{}
	err    error
}

func newFatalHook() *fatalHook { return &fatalHook{failed: make(chan struct{})} }

// options configure a zap logger to call the hook.
func (h *fatalHook) options() []zap.Option {
	return []zap.Option{zap.WithFatalHook(h), zap.WithPanicHook(h)}
}

// OnWrite implements zapcore.CheckWriteHook.
func (h *fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		if cause, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	h.fail(err)
	runtime.Goexit()
}

func (h *fatalHook) fail(err error) {
	h.once.Do(func() {
		h.err = err
		close(h.failed)
	})
}

// call runs f on a new goroutine and waits until f returns or etcd gives up on any goroutine; f
// may then be blocked forever. A panic, or a memory fault in a mapped file that is shorter than
// expected, becomes an error.
func (h *fatalHook) call(f func() error) error {
	returned := make(chan error, 1)
	go func() { // owned by this call
		defer func() {
			if cause := recover(); cause != nil {
				h.fail(fmt.Errorf("%v", cause))
			}
		}()
		debug.SetPanicOnFault(true)
		returned <- f()
	}()
	select {
	case err := <-returned:
		return err
	case <-h.failed:
		return h.err
	}
}
