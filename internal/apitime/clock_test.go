package apitime_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func TestAdvanceCallsDueTimersInOrder(t *testing.T) {
	frozen := clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	c := apitime.New(frozen)
	var calls []string
	at := func(d time.Duration, name string) (stop func()) {
		return c.AfterFunc(d, func() { calls = append(calls, name) })
	}
	at(3*time.Hour, "late")
	at(2*time.Hour, "second")
	at(time.Hour, "first")
	at(2*time.Hour, "third")
	at(time.Hour, "stopped")()
	if err := c.Advance(2 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first", "second", "third"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if want := frozen.Now().Add(2 * time.Hour); !c.Now().Equal(want) {
		t.Errorf("time %v, want %v", c.Now(), want)
	}
	if err := c.Advance(-time.Second); err == nil {
		t.Error("the time goes back")
	}
}

// Advance also waits for a call that Run has begun.
func TestAdvanceAwaitsTheCallsOfRun(t *testing.T) {
	c := apitime.New(nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = c.Run(ctx) })
	defer running.Wait()
	defer cancel()
	var ended atomic.Bool
	began := make(chan struct{})
	c.AfterFunc(0, func() {
		close(began)
		for range 1000 {
			runtime.Gosched() // Advance begins meanwhile
		}
		ended.Store(true)
	})
	<-began
	if err := c.Advance(0); err != nil {
		t.Fatal(err)
	}
	if !ended.Load() {
		t.Error("Advance has returned before the end of the call")
	}
}

func TestRunCallsTimersWhenTheirTimeComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := apitime.New(nil)
		if !c.Real() {
			t.Error("a new clock has not the time of the machine")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = c.Run(ctx) })
		defer running.Wait()
		defer cancel()
		began, called := time.Now(), make(chan time.Time, 2)
		c.AfterFunc(time.Hour, func() { called <- time.Now() })
		c.AfterFunc(time.Minute, func() { called <- time.Now() })
		if at := <-called; at.Sub(began) != time.Minute {
			t.Errorf("called after %v", at.Sub(began))
		}
		if err := c.Advance(30 * time.Minute); err != nil {
			t.Fatal(err)
		}
		if at := <-called; at.Sub(began) != 30*time.Minute { // the rest of the hour
			t.Errorf("called after %v", at.Sub(began))
		}
		if c.Real() {
			t.Error("an advanced clock has the time of the machine")
		}
	})
}
