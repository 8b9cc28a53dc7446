package encoding

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/storage"
)

// TypeHeader returns the apiVersion and kind of a body.
func TypeHeader(kind schema.GroupVersionKind) metav1.TypeMeta {
	version, name := kind.ToAPIVersionAndKind()
	return metav1.TypeMeta{APIVersion: version, Kind: name}
}

// Body is the encoding of an object without apiVersion and kind: the part that is the same in a
// get, a list and a watch. Bodies are shared and immutable.
type Body struct {
	bytes []byte
	// stamped replaces bytes if isStamped is set.
	stamped   storage.Stamped
	isStamped bool
}

func (b Body) size() int {
	if b.isStamped {
		return b.stamped.Size()
	}
	return len(b.bytes)
}

// split appends to dst the part of the body that must be copied and returns the shared part that
// follows it.
func (b Body) split(dst []byte) (start, rest []byte) {
	if b.isStamped {
		return b.stamped.AppendStart(dst), b.stamped.Rest()
	}
	return dst, b.bytes
}

// Document is a body with the bytes around it. The holder owns start; rest and end are shared.
type Document struct{ start, rest, end []byte }

// Size returns the length in bytes.
func (d Document) Size() int { return len(d.start) + len(d.rest) + len(d.end) }

// Write writes the document without joining its parts.
func (d Document) Write(w io.Writer) error {
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

// join returns a copy of the document in one slice.
func (d Document) join() []byte {
	out := make([]byte, 0, d.Size())
	return append(append(append(out, d.start...), d.rest...), d.end...)
}

// Encode encodes an object. The type header of obj is ignored.
func (f Format) Encode(obj runtime.Object) (Body, error) {
	bytes, err := f.MediaType.encode(obj)
	return Body{bytes: bytes}, err
}

// encodeDocument encodes an object under a type header.
func (f Format) encodeDocument(header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	b, err := f.Encode(obj)
	if err != nil {
		return nil, err
	}
	return f.convert(f.MediaType.wrap(nil, header, b))
}

// indents reports whether documents are indented.
func (f Format) indents() bool { return f.Pretty && f.MediaType.indent != nil }

// convert joins a document, and rewrites or indents it as the format demands.
func (f Format) convert(d Document) ([]byte, error) {
	joined := d.join()
	if f.MediaType.rewrite != nil {
		return f.MediaType.rewrite(joined)
	}
	if f.indents() {
		return indentJSON(joined), nil
	}
	return joined, nil
}

// FrameEncoder makes the frames of one watch. It is not safe for concurrent use.
type FrameEncoder struct {
	frame frameFunc
	start []byte // reused by every frame
}

// FrameEncoder returns the frame encoder of a format that NegotiateWatch returned.
func (f Format) FrameEncoder() FrameEncoder { return FrameEncoder{frame: f.MediaType.frame} }

// MessageEncoder is FrameEncoder for connections that keep messages apart.
func (f Format) MessageEncoder() FrameEncoder {
	if f.MediaType.message != nil {
		return FrameEncoder{frame: f.MediaType.message}
	}
	return f.FrameEncoder()
}

// Frame returns the frame of an event, which is valid until the next call. The body is not copied.
func (e *FrameEncoder) Frame(eventType string, header metav1.TypeMeta, b Body) Document {
	frame := e.frame(e.start[:0], eventType, header, b)
	e.start = frame.start
	return frame
}
