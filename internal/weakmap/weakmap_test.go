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
	made := 0
	of := func(key string) *value {
		return m.Of(key, func() *value { made++; return &value{key} })
	}
	a, b := of("a"), of("b")
	if of("a") != a || of("b") != b || made != 2 {
		t.Errorf("%d values were made of two keys", made)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

func TestWhatNobodyUsesIsForgotten(t *testing.T) {
	var m weakmap.Map[int, value]
	kept := m.Of(0, func() *value { return &value{"kept"} })
	for i := range 100 {
		m.Of(i+1, func() *value { return &value{"dropped"} })
	}
	for deadline := time.Now().Add(time.Minute); m.Len() > 1; runtime.Gosched() {
		runtime.GC() // what runs the cleanups is a goroutine of the runtime
		if time.Now().After(deadline) {
			t.Fatalf("%d values are known, want one", m.Len())
		}
	}
	if again := m.Of(0, func() *value { return &value{"another"} }); again != kept {
		t.Error("a value that is used was forgotten")
	}
}
