package encoding

import (
	"bytes"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxDepth limits the nesting of a JSON body. Merging and decoding take time quadratic in the
// depth: a merge patch of 9,000 levels, which kube-apiserver accepts, takes seconds.
const maxDepth = 1000

// CheckDepth returns a 400 for a JSON body that is nested more than 1,000 levels deep. Bodies in
// other media types pass.
func CheckDepth(data []byte) error {
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return nil
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return apierrors.NewBadRequest(fmt.Sprintf("the body is nested more than %d levels deep", maxDepth))
			}
		case '}', ']':
			depth--
		case '"':
			i = endOfString(data, i)
		}
	}
	return nil
}

// endOfString returns the position of the quote that ends the string beginning at start, or the
// length of data if there is none.
func endOfString(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data)
}
