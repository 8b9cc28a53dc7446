package model

import "fmt"

// checkWrites compares the acknowledged writes with the history, in both directions.
func checkWrites(h *History, writes []Write) []error {
	var errs []error
	explained := map[int64]int{}
	var unknown []Write
	for _, w := range writes {
		if w.Unknown {
			unknown = append(unknown, w)
			continue
		}
		explained[w.Revision]++
		if err := checkWrite(h, w); err != nil {
			errs = append(errs, err)
		}
	}
	for _, c := range h.changes {
		n := explained[c.Revision]
		if n == 0 {
			unknown, n = claim(unknown, c)
		}
		if n != 1 {
			errs = append(errs, fmt.Errorf("%w: %+v has %d writes", ErrExplained, c, n))
		}
	}
	return errs
}

func checkWrite(h *History, w Write) error {
	c, found := h.find(w.Revision)
	if !found || c.Key != w.Key || c.Object != w.Object || c.Deleted != w.Deleted {
		return fmt.Errorf("%w: %+v, history has %+v", ErrAcknowledged, w, c)
	}
	replaced, _ := h.at(w.Key, w.Revision-1) // zero if there was none
	if replaced.Revision != w.Base {
		return fmt.Errorf("%w: %+v replaced the version of revision %d", ErrNoLostUpdate, w, replaced.Revision)
	}
	return nil
}

// claim searches for a write with an unknown outcome that explains a change. If there is one, n is
// 1, and rest does not contain it.
func claim(unknown []Write, c Change) (rest []Write, n int) {
	for i, w := range unknown {
		if w.Key == c.Key && w.Object == c.Object && w.Deleted == c.Deleted {
			return append(unknown[:i:i], unknown[i+1:]...), 1
		}
	}
	return unknown, 0
}
