package memory_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"

	"github.com/miniapi/miniapi/internal/memory"
)

// fakeProcess is the memory of a process. A garbage collection sets Live to afterCollection.
type fakeProcess struct {
	memory.Process
	afterCollection int64
	collections     int
}

func (p *fakeProcess) budget(bytes int64) *memory.Budget {
	return memory.NewBudget(memory.Config{
		Bytes:   bytes,
		Process: func() memory.Process { return p.Process },
		Collect: func() { p.collections++; p.Live = p.afterCollection },
	})
}

func TestReservations(t *testing.T) {
	for _, test := range []struct {
		rule     string
		process  memory.Process
		bytes    int64
		reserved int64 // by another request
		grow     int64
		want     error
	}{
		{"no memory limit: the budget is fixed", memory.Process{Limit: math.MaxInt64, Live: 1 << 40}, 100, 40, 60, nil},
		{"no memory limit: the budget is exceeded", memory.Process{Limit: math.MaxInt64}, 100, 40, 61, memory.ErrExhausted},
		{"a large reservation is allowed if it is the only one", memory.Process{Limit: math.MaxInt64}, 100, 0, 1000, nil},
		{"live memory and reservations take three quarters of the limit", memory.Process{Limit: 400, Live: 100}, 1000, 100, 100, nil},
		{"live memory and reservations exceed three quarters", memory.Process{Limit: 400, Live: 100}, 1000, 100, 101, memory.ErrExhausted},
		{"the budget is the maximum with a memory limit too", memory.Process{Limit: 4000}, 100, 50, 51, memory.ErrExhausted},
		{"live memory exhausts the budget for the only request too", memory.Process{Limit: 400, Live: 300}, 1000, 0, 1, memory.ErrExhausted},
	} {
		t.Run(test.rule, func(t *testing.T) {
			process := &fakeProcess{Process: test.process, afterCollection: test.process.Live}
			budget := process.budget(test.bytes)
			other := budget.Reserve()
			defer other.Release()
			if err := other.Grow(test.reserved); test.reserved > 0 && err != nil {
				t.Fatal(err)
			}
			r := budget.Reserve()
			if err := memory.Grow(memory.WithReservation(t.Context(), r), test.grow); !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			r.Release()
			if got := budget.Stats().Reserved; got != test.reserved {
				t.Errorf("after the release %d bytes are reserved, want %d", got, test.reserved)
			}
		})
	}
}

func TestRejectionCollectsGarbage(t *testing.T) {
	synctest.Test(t, testRejectionCollectsGarbage) // so that no time passes between the rejections
}

func testRejectionCollectsGarbage(t *testing.T) {
	process := &fakeProcess{Process: memory.Process{Limit: 400, Live: 300}, afterCollection: 50}
	budget := process.budget(1000)
	r := budget.Reserve()
	defer r.Release()
	if err := r.Grow(200); err != nil {
		t.Fatalf("the live heap was collected: %v", err)
	}
	process.Live = 300
	if err := r.Grow(200); !errors.Is(err, memory.ErrExhausted) || process.collections != 1 {
		t.Errorf("a second rejection within the interval: %v after %d collections, want ErrExhausted after 1", err, process.collections)
	}
	if got := budget.Stats().Rejected; got != 1 {
		t.Errorf("%d rejections, want 1", got)
	}
}

func TestReleasedReservationStaysEmpty(t *testing.T) {
	budget := (&fakeProcess{Process: memory.Process{Limit: math.MaxInt64}}).budget(100)
	r := budget.Reserve()
	r.Release()
	if err := r.Grow(1000); err != nil || budget.Stats().Reserved != 0 {
		t.Errorf("%v, %d bytes reserved", err, budget.Stats().Reserved)
	}
	if err := memory.Grow(context.Background(), 1000); err != nil {
		t.Errorf("a context without a reservation: %v", err)
	}
}

func TestReadProcess(t *testing.T) {
	got := memory.ReadProcess()
	if got.Limit <= 0 || got.Live <= 0 {
		t.Errorf("%+v", got)
	}
}

func TestShareOfCaches(t *testing.T) {
	for limit, want := range map[int64]int64{math.MaxInt64: 64, 800: 64, 80: 10} {
		if got := (memory.Process{Limit: limit}).Share(64); got != want {
			t.Errorf("limit %d: got %d, want %d", limit, got, want)
		}
	}
}
