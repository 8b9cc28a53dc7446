package model

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
)

// The moments at which an operation can take effect are numbered: the write of
// revision R happens at 2R, and whoever reads the state of R does so at 2R+1,
// after it and before the next write.
type moment = int64

func ofWrite(revision int64) moment { return 2 * revision }
func ofState(revision int64) moment { return 2*revision + 1 }

// interval of moments, both ends included.
type interval struct{ from, to moment }

// operation is anything with a place in the order.
type operation struct {
	Span
	what     any // for the message
	possible []interval
	// any: it may have taken effect before it was called, as a read of any
	// state does. It still shows that its moment was past when it returned.
	any bool
}

// checkOrder gives each operation, in the order of calls, the first moment
// that is possible for it and not before that of any operation which had
// returned by then. If there is none, no order explains what was seen: every
// moment given is the earliest there can be.
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
			errs = append(errs, fmt.Errorf("%w: %+v, called after moment %d, possible in %v",
				ErrLinearizable, op.what, now, op.possible))
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
			ops = append(ops, operation{Span: w.Span, what: w, possible: []interval{{ofWrite(w.Revision), ofWrite(w.Revision)}}})
		}
	}
	for _, l := range log.Lists {
		ops = append(ops, operation{Span: l.Span, what: l, possible: []interval{{ofState(l.Revision), ofState(l.Revision)}}, any: l.Any})
	}
	for _, g := range log.Glances {
		ops = append(ops, operation{Span: g.Span, what: g, possible: h.moments(g), any: g.Any})
	}
	slices.SortFunc(ops, func(a, b operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// moments returns when there was to see what a glance saw.
func (h *History) moments(g Glance) []interval {
	var result []interval
	for _, v := range h.versions(g.Key) {
		if v.shows(g) {
			result = append(result, v.interval)
		}
	}
	return result
}

// stretch is how long a version, or the absence of one, lasted.
type stretch struct {
	Change
	interval
}

func (s stretch) shows(g Glance) bool {
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

// versions returns the stretches of a key, one after the other without a gap.
func (h *History) versions(key string) []stretch {
	stretches := []stretch{{Change{Key: key, Deleted: true}, interval{0, math.MaxInt64}}}
	for _, c := range h.byKey[key] {
		stretches[len(stretches)-1].to = ofWrite(c.Revision) - 1
		stretches = append(stretches, stretch{c, interval{ofState(c.Revision), math.MaxInt64}})
	}
	return stretches
}

// placed is an operation that was given its moment.
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
