package encoding

import (
	"encoding/binary"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protobufMagic begins every document; a runtime.Unknown follows.
const protobufMagic = "k8s\x00"

// Field numbers of runtime.Unknown, of lists, and of metav1.WatchEvent.
const (
	unknownTypeMeta, unknownRaw, unknownEncoding, unknownType = 1, 2, 3, 4
	typeMetaVersion, typeMetaKind                             = 1, 2
	listMeta, listItems                                       = 1, 2
	eventType, eventObject                                    = 1, 2
	rawExtensionRaw                                           = 1
)

// message is the interface of generated protobuf types. Their encoding has no apiVersion and kind.
type message interface {
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

func asMessage(obj runtime.Object) (message, error) {
	m, ok := obj.(message)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf encoding", obj)
	}
	return m, nil
}

// appendEnvelope appends the part of an envelope before size bytes of content. envelopeEnd follows
// the content.
func appendEnvelope(dst []byte, header metav1.TypeMeta, size int) []byte {
	dst = append(dst, protobufMagic...)
	dst = appendLength(dst, unknownTypeMeta, typesSize(header))
	dst = append(appendLength(dst, typeMetaVersion, len(header.APIVersion)), header.APIVersion...)
	dst = append(appendLength(dst, typeMetaKind, len(header.Kind)), header.Kind...)
	return appendLength(dst, unknownRaw, size)
}

// typesSize returns the size of an encoded type header.
func typesSize(header metav1.TypeMeta) int {
	return fieldSize(typeMetaVersion, len(header.APIVersion)) + fieldSize(typeMetaKind, len(header.Kind))
}

// envelopeSize returns the size of an envelope and the size bytes of content in it.
func envelopeSize(header metav1.TypeMeta, size int) int {
	return len(protobufMagic) + fieldSize(unknownTypeMeta, typesSize(header)) + fieldSize(unknownRaw, size) + len(envelopeEnd)
}

// fieldSize returns the size of a field with a value of size bytes.
func fieldSize(field protowire.Number, size int) int {
	return protowire.SizeTag(field) + protowire.SizeBytes(size)
}

// envelopeEnd holds contentEncoding and contentType, both empty.
var envelopeEnd = []byte{unknownEncoding<<3 | byte(protowire.BytesType), 0, unknownType<<3 | byte(protowire.BytesType), 0}

func appendBytesField(dst []byte, field protowire.Number, value []byte) []byte {
	return append(appendLength(dst, field, len(value)), value...)
}

func appendLength(dst []byte, field protowire.Number, size int) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(size))
}

// protobufBody encodes an object without an envelope.
func protobufBody(obj runtime.Object) ([]byte, error) {
	m, err := asMessage(obj)
	if err != nil {
		return nil, err
	}
	out := make([]byte, m.Size())
	n, err := m.MarshalToSizedBuffer(out)
	if err == nil && n != len(out) {
		err = fmt.Errorf("%T encodes to %d bytes, but its size is %d", m, n, len(out))
	}
	return out, err
}

func protobufWrap(dst []byte, header metav1.TypeMeta, b Body) Document {
	start, rest := b.split(appendEnvelope(dst, header, b.size()))
	return Document{start, rest, envelopeEnd}
}

// protobufList writes the list as one message, which begins with its length. The items are ranged
// over twice: for the sum of their lengths, and to write them.
func protobufList(w io.Writer, l List) error {
	meta, err := l.Meta.Marshal()
	if err != nil {
		return err
	}
	total := fieldSize(listMeta, len(meta))
	for b, err := range l.Items {
		if err != nil {
			return err
		}
		total += fieldSize(listItems, b.size())
	}
	buf := appendBytesField(appendEnvelope(nil, l.Header, total), listMeta, meta)
	for b, err := range l.Items {
		if err != nil {
			return err
		}
		item := Document{}
		item.start, item.rest = b.split(appendLength(buf, listItems, b.size()))
		if err := item.Write(w); err != nil {
			return err
		}
		buf = item.start[:0]
	}
	return Document{start: buf, end: envelopeEnd}.Write(w)
}

// protobufFrame makes a frame of a watch: the length in four bytes, then the event.
func protobufFrame(dst []byte, kind string, header metav1.TypeMeta, b Body) Document {
	raw := fieldSize(rawExtensionRaw, envelopeSize(header, b.size()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(fieldSize(eventType, len(kind))+fieldSize(eventObject, raw)))
	return protobufEvent(dst, kind, header, b)
}

// protobufEvent makes a metav1.WatchEvent without an envelope, whose object has one.
func protobufEvent(dst []byte, kind string, header metav1.TypeMeta, b Body) Document {
	object := envelopeSize(header, b.size())
	raw := fieldSize(rawExtensionRaw, object)
	dst = append(appendLength(dst, eventType, len(kind)), kind...)
	dst = appendLength(dst, eventObject, raw)
	dst = appendLength(dst, rawExtensionRaw, object)
	return protobufWrap(dst, header, b)
}
