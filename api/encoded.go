package api

import (
	"io"

	"github.com/miniapi/miniapi/storage"
)

// encoded is the body of an object: its encoding without apiVersion and kind,
// the part that is the same in gets, lists and watches.
type encoded struct {
	bytes []byte // shared: must not be written to
	// stamped takes the place of bytes where isStamped.
	stamped   storage.Stamped
	isStamped bool
}

func (e encoded) size() int {
	if e.isStamped {
		return e.stamped.Size()
	}
	return len(e.bytes)
}

// split appends to dst what of the body has to be copied; what follows on that
// is shared.
func (e encoded) split(dst []byte) (start, rest []byte) {
	if e.isStamped {
		return e.stamped.AppendStart(dst), e.stamped.Rest()
	}
	return dst, e.bytes
}

// document is a body with what its use puts around it. Only start belongs to
// whoever has the document.
type document struct{ start, rest, end []byte }

func (d document) size() int { return len(d.start) + len(d.rest) + len(d.end) }

// join makes one piece of the document.
func (d document) join() []byte {
	out := make([]byte, 0, d.size())
	return append(append(append(out, d.start...), d.rest...), d.end...)
}

// writeTo writes a document without joining it.
func (d document) writeTo(w io.Writer) error {
	for _, part := range [...][]byte{d.start, d.rest, d.end} {
		if len(part) == 0 {
			continue
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
