package weakmap_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/miniapi/miniapi/internal/weakmap"
)

type value struct{ text string }

func TestValuesAreShared(t *testing.T) {
	var m weakmap.Map[string, value]
	built := 0
	of := func(key string) *value {
		return m.Of(key, func() *value { built++; return &value{key} })
	}
	a, b := of("a"), of("b")
	if of("a") != a || of("b") != b || built != 2 {
		t.Errorf("%d values were built for two keys", built)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

func TestUnreferencedValuesAreCollected(t *testing.T) {
	var m weakmap.Map[int, value]
	kept := m.Of(0, func() *value { return &value{"kept"} })
	for i := range 100 {
		m.Of(i+1, func() *value { return &value{"dropped"} })
	}
	for deadline := time.Now().Add(time.Minute); m.Len() > 1; runtime.Gosched() {
		runtime.GC() // a goroutine of the runtime runs the cleanups
		if time.Now().After(deadline) {
			t.Fatalf("the map has %d values, want one", m.Len())
		}
	}
	if got := m.Of(0, func() *value { return &value{"another"} }); got != kept {
		t.Error("a referenced value was collected")
	}
}
