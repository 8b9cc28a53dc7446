package api

import (
	"encoding/binary"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protobufMagic opens every message; what follows is a runtime.Unknown.
const protobufMagic = "k8s\x00"

// Fields of runtime.Unknown, of lists, and of metav1.WatchEvent.
const (
	unknownTypeMeta, unknownRaw, unknownEncoding, unknownType = 1, 2, 3, 4
	typeMetaVersion, typeMetaKind                             = 1, 2
	listMeta, listItems                                       = 1, 2
	eventType, eventObject                                    = 1, 2
	rawExtensionRaw                                           = 1
)

// message is what generated protobuf types can do. They know no apiVersion and
// kind, so their bytes are the same wherever they are sent.
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

// appendEnvelope appends the bytes of an envelope in front of size bytes of
// content; envelopeEnd follows those.
func appendEnvelope(dst []byte, header metav1.TypeMeta, size int) []byte {
	dst = append(dst, protobufMagic...)
	dst = appendLength(dst, unknownTypeMeta, typesSize(header))
	dst = append(appendLength(dst, typeMetaVersion, len(header.APIVersion)), header.APIVersion...)
	dst = append(appendLength(dst, typeMetaKind, len(header.Kind)), header.Kind...)
	return appendLength(dst, unknownRaw, size)
}

func typesSize(header metav1.TypeMeta) int {
	return fieldSize(typeMetaVersion, len(header.APIVersion)) + fieldSize(typeMetaKind, len(header.Kind))
}

// envelopeSize is the size of an envelope with size bytes of content in it.
func envelopeSize(header metav1.TypeMeta, size int) int {
	return len(protobufMagic) + fieldSize(unknownTypeMeta, typesSize(header)) + fieldSize(unknownRaw, size) + len(envelopeEnd)
}

// fieldSize is the size of a field with size bytes in it.
func fieldSize(field protowire.Number, size int) int {
	return protowire.SizeTag(field) + protowire.SizeBytes(size)
}

// envelopeEnd is contentEncoding and contentType, both empty.
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
		err = fmt.Errorf("%T encodes to %d bytes where %d were announced", m, n, len(out))
	}
	return out, err
}

func protobufWrap(dst []byte, header metav1.TypeMeta, b encoded) document {
	start, rest := b.split(appendEnvelope(dst, header, b.size()))
	return document{start, rest, envelopeEnd}
}

// protobufList writes one message around the whole list, so the lengths of all
// its items are summed up before the first byte goes out.
func protobufList(w io.Writer, l listing) error {
	meta, err := l.meta.Marshal()
	if err != nil {
		return err
	}
	total := fieldSize(listMeta, len(meta))
	for b, err := range l.items {
		if err != nil {
			return err
		}
		total += fieldSize(listItems, b.size())
	}
	buf := appendBytesField(appendEnvelope(nil, l.header, total), listMeta, meta)
	for b, err := range l.items {
		if err != nil {
			return err
		}
		item := document{}
		item.start, item.rest = b.split(appendLength(buf, listItems, b.size()))
		if err := item.writeTo(w); err != nil {
			return err
		}
		buf = item.start[:0]
	}
	return document{start: buf, end: envelopeEnd}.writeTo(w)
}

// protobufFrame makes a frame of a watch: four bytes of length, then a
// metav1.WatchEvent which has no envelope around it but one inside.
func protobufFrame(dst []byte, kind string, header metav1.TypeMeta, b encoded) document {
	object := envelopeSize(header, b.size())
	raw := fieldSize(rawExtensionRaw, object)
	dst = binary.BigEndian.AppendUint32(dst, uint32(fieldSize(eventType, len(kind))+fieldSize(eventObject, raw)))
	dst = append(appendLength(dst, eventType, len(kind)), kind...)
	dst = appendLength(dst, eventObject, raw)
	dst = appendLength(dst, rawExtensionRaw, object)
	return protobufWrap(dst, header, b)
}
