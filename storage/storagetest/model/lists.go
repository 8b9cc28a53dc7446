package model

import (
	"fmt"
	"slices"
)

func checkLists(h *History, lists []List) []error {
	var errs []error
	for _, l := range lists {
		if want := h.state(l.Selection, l.Revision); !slices.Equal(l.Versions, want) {
			errs = append(errs, fmt.Errorf("%w: %+v at revision %d shows %+v, the state is %+v",
				ErrSnapshot, l.Selection, l.Revision, l.Versions, want))
		}
	}
	return errs
}
