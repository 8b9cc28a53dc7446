package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// interval is a range of indexes, both ends included.
type interval struct{ first, last int32 }

// indexes are completion indexes as in a job's status: 1,3-5,7.
type indexes []interval

// parseIndexes parses indexes in increasing order. Its errors have the texts of kube-apiserver.
func parseIndexes(list string, completions int32) (indexes, error) {
	if list == "" {
		return nil, nil
	}
	var parsed indexes
	for part := range strings.SplitSeq(list, ",") {
		next, err := parseInterval(part, completions)
		if err != nil {
			return nil, err
		}
		if n := len(parsed); n > 0 && parsed[n-1].last >= next.first {
			return nil, unordered(parsed[n-1].last, next.first)
		}
		parsed = append(parsed, next)
	}
	return parsed, nil
}

func parseInterval(part string, completions int32) (interval, error) {
	first, last, isRange := strings.Cut(part, "-")
	if strings.Contains(last, "-") {
		return interval{}, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", part)
	}
	x, err := parseIndex(first, completions)
	if err != nil || !isRange {
		return interval{x, x}, err
	}
	y, err := parseIndex(last, completions)
	if err == nil && x >= y {
		err = unordered(x, y)
	}
	return interval{x, y}, err
}

func parseIndex(text string, completions int32) (int32, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	case n >= int(completions):
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return int32(n), nil
}

func unordered(previous, current int32) error {
	return fmt.Errorf("non-increasing order, previous: %d, current: %d", previous, current)
}

func (x indexes) count() int32 {
	var n int32
	for _, i := range x {
		n += i.last - i.first + 1
	}
	return n
}

// overlap returns the first index that is in both.
func (x indexes) overlap(y indexes) (index int32, ok bool) {
	for _, a := range x {
		for _, b := range y {
			if a.first <= b.last && b.first <= a.last {
				return max(a.first, b.first), true
			}
		}
	}
	return 0, false
}
