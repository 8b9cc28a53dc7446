package model

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
)

// moment numbers the points at which an operation can take effect: the write of revision R takes
// effect at 2R, and a read of the state of R at 2R+1, before the next write.
type moment = int64

func writeMoment(revision int64) moment { return 2 * revision }
func stateMoment(revision int64) moment { return 2*revision + 1 }

// interval is an interval of moments, both ends included.
type interval struct{ from, to moment }

// operation is an operation with a place in the order.
type operation struct {
	Span
	value    any // for the error message
	possible []interval
	// any means that it may have taken effect before its call, like a read of any state. Its
	// moment is still before its return.
	any bool
}

// checkOrder assigns to each operation, in the order of calls, its first possible moment that is
// not before the moment of any operation that had returned by then. All assigned moments are the
// earliest possible ones, so if an operation has none, no order explains the log.
func checkOrder(h *History, log *Log) []error {
	var errs []error
	var now moment
	running := &byReturn{}
	for _, op := range operations(h, log) {
		for running.Len() > 0 && (*running)[0].returned < op.Call {
			now = max(now, heap.Pop(running).(placed).moment)
		}
		at, ok := op.earliest(now)
		if !ok {
			errs = append(errs, fmt.Errorf("%w: %+v, called after moment %d, possible at %v",
				ErrLinearizable, op.value, now, op.possible))
			continue
		}
		heap.Push(running, placed{at, op.Return})
	}
	return errs
}

// earliest returns the first possible moment from now on.
func (op operation) earliest(now moment) (at moment, ok bool) {
	if op.any {
		now = 0
	}
	for _, i := range op.possible {
		if at := max(i.from, now); at <= i.to {
			return at, true
		}
	}
	return 0, false
}

func operations(h *History, log *Log) []operation {
	var ops []operation
	for _, w := range log.Writes {
		if !w.Unknown {
			ops = append(ops, operation{Span: w.Span, value: w, possible: []interval{{writeMoment(w.Revision), writeMoment(w.Revision)}}})
		}
	}
	for _, l := range log.Lists {
		ops = append(ops, operation{Span: l.Span, value: l, possible: []interval{{stateMoment(l.Revision), stateMoment(l.Revision)}}, any: l.Any})
	}
	for _, g := range log.Observations {
		ops = append(ops, operation{Span: g.Span, value: g, possible: h.moments(g), any: g.Any})
	}
	slices.SortFunc(ops, func(a, b operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// moments returns the intervals in which an observation was possible.
func (h *History) moments(g Observation) []interval {
	var result []interval
	for _, v := range h.versions(g.Key) {
		if v.shows(g) {
			result = append(result, v.interval)
		}
	}
	return result
}

// lifetime is the interval in which a key had a version, or had none.
type lifetime struct {
	Change
	interval
}

func (s lifetime) shows(g Observation) bool {
	switch g.Saw {
	case SawVersion:
		return !s.Deleted && s.Revision == g.Revision
	case SawOther:
		return !s.Deleted && s.Revision != g.Revision
	case SawAny:
		return !s.Deleted
	default:
		return s.Deleted
	}
}

// versions returns the lifetimes of a key, without gaps between them.
func (h *History) versions(key string) []lifetime {
	lifetimes := []lifetime{{Change{Key: key, Deleted: true}, interval{0, math.MaxInt64}}}
	for _, c := range h.byKey[key] {
		lifetimes[len(lifetimes)-1].to = writeMoment(c.Revision) - 1
		lifetimes = append(lifetimes, lifetime{c, interval{stateMoment(c.Revision), math.MaxInt64}})
	}
	return lifetimes
}

// placed is an operation with its assigned moment.
type placed struct {
	moment   moment
	returned int64
}

// byReturn is a heap: the operation that returned first is on top.
type byReturn []placed

func (b byReturn) Len() int           { return len(b) }
func (b byReturn) Less(i, j int) bool { return b[i].returned < b[j].returned }
func (b byReturn) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *byReturn) Push(x any)        { *b = append(*b, x.(placed)) }
func (b *byReturn) Pop() any {
	last := (*b)[len(*b)-1]
	*b = (*b)[:len(*b)-1]
	return last
}
