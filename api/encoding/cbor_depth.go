package encoding

import (
	"fmt"
	"math"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxTags is the maximum number of CBOR tags in a row. The decoder reads their content once for
// each of them.
const maxTags = 16

// CheckCBORDepth returns a 400 for a CBOR body that is nested more than 1,000 levels deep, or has
// more than 16 tags in a row.
func CheckCBORDepth(data []byte) error {
	switch depth, tags := exceedsCBORLimits(data); {
	case depth:
		return apierrors.NewBadRequest(fmt.Sprintf("the body is nested more than %d levels deep", maxDepth))
	case tags:
		return apierrors.NewBadRequest(fmt.Sprintf("the body has more than %d tags in a row", maxTags))
	}
	return nil
}

// exceedsCBORLimits reports whether data is nested too deep, or has too many tags in a row. It
// reads data once. Malformed data is left to the decoder.
func exceedsCBORLimits(data []byte) (depth, tags bool) {
	row := 0                         // tags before the position
	const unlimited = math.MaxUint64 // items until a break
	var open []uint64                // the items that the containers around the position still need
	for len(data) > 0 {
		major, info, argument, rest, ok := readCBORHead(data)
		if !ok {
			return false, false
		}
		data = rest
		if row++; major != cborTag {
			row = 0
		}
		if row > maxTags {
			return false, true
		}
		items := uint64(0) // in the container that begins here
		switch {
		case major == cborSimple && info == cborIndefinite: // a break
			if len(open) == 0 {
				return false, false
			}
			open[len(open)-1] = 0
			open = closeCBOR(open)
			continue
		case info == cborIndefinite:
			items = unlimited
		case major == cborBytes || major == cborText:
			if argument > uint64(len(data)) {
				return false, false
			}
			data = data[argument:]
		case major == cborArray:
			items = argument
		case major == cborMap:
			items = argument * 2
		case major == cborTag:
			items = 1
		}
		if len(open) > 0 && open[len(open)-1] != unlimited {
			open[len(open)-1]--
		}
		if open = append(open, items); len(open) > maxDepth+1 {
			return true, false
		}
		open = closeCBOR(open)
	}
	return false, false
}

// closeCBOR removes the innermost containers that are complete.
func closeCBOR(open []uint64) []uint64 {
	for len(open) > 0 && open[len(open)-1] == 0 {
		open = open[:len(open)-1]
	}
	return open
}
