package api

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miniapi/miniapi/api/encoding"
)

// timedOutput is an output whose flush fails after the write deadline.
type timedOutput struct {
	watchOutput
	deadline time.Time
}

func (o *timedOutput) SetWriteDeadline(deadline time.Time) error {
	o.deadline = deadline
	return nil
}

func (o *timedOutput) flush() error {
	if time.Now().After(o.deadline) {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// The end of the response of a watch can be written although the goroutine of the watch runs only
// long after the shutdown began, and for a limited time.
func TestSlowEndOfWatchAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shutdown, begin := context.WithCancel(t.Context())
		responder := encoding.NewResponder(encoding.Config{Shutdown: shutdown})
		out := &timedOutput{}
		stream := &watchStream{out: out, bookmarks: newBookmarks(false, time.Hour)}
		stream.release = responder.LimitOnShutdown(out.SetWriteDeadline, encoding.FinalWriteTimeout)
		begin()
		synctest.Wait()
		time.Sleep(time.Minute)
		if err := out.flush(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("an event after the shutdown: %v", err)
		}
		stream.close()
		if err := out.flush(); err != nil {
			t.Errorf("the end of the response: %v", err)
		}
		time.Sleep(2 * encoding.FinalWriteTimeout)
		if err := out.flush(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the end of the response has no limit: %v", err)
		}
	})
}
