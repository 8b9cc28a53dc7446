package host

import (
	"testing"
	"testing/synctest"
	"time"
)

// The timer does not fire while there is a user, and fires its timeout after the last one.
func TestIdleTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := newIdleTimer(time.Minute)
		timer.add()
		timer.add()
		time.Sleep(time.Hour)
		timer.remove()
		time.Sleep(time.Hour)
		select {
		case <-timer.expired():
			t.Error("the timer fires although there is a user")
		default:
		}
		timer.remove()
		last := time.Now()
		<-timer.expired()
		if idle := time.Since(last); idle != time.Minute {
			t.Errorf("the timer fires %v after the last user, want a minute", idle)
		}
	})
}
