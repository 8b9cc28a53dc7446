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

// envelopeStart returns the bytes of an envelope in front of size bytes of
// content; envelopeEnd follows those.
func envelopeStart(header metav1.TypeMeta, size int) []byte {
	var types []byte
	types = appendBytesField(types, typeMetaVersion, []byte(header.APIVersion))
	types = appendBytesField(types, typeMetaKind, []byte(header.Kind))
	out := []byte(protobufMagic)
	out = appendBytesField(out, unknownTypeMeta, types)
	return appendLength(out, unknownRaw, size)
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

// appendMessage appends the encoding of m, size bytes of it.
func appendMessage(dst []byte, m message, size int) ([]byte, error) {
	start := len(dst)
	dst = append(dst, make([]byte, size)...)
	n, err := m.MarshalToSizedBuffer(dst[start:])
	if err == nil && n != size {
		err = fmt.Errorf("%T encodes to %d bytes where %d were announced", m, n, size)
	}
	return dst, err
}

func protobufObject(header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	m, err := asMessage(obj)
	if err != nil {
		return nil, err
	}
	size := m.Size()
	out, err := appendMessage(envelopeStart(header, size), m, size)
	if err != nil {
		return nil, err
	}
	return append(out, envelopeEnd...), nil
}

// protobufList writes one message around the whole list, so the lengths of all
// its items are summed up before the first byte goes out.
func protobufList(w io.Writer, l listing) error {
	meta, err := l.meta.Marshal()
	if err != nil {
		return err
	}
	buf := appendBytesField(nil, listMeta, meta)
	total := len(buf)
	for obj, err := range l.items {
		if err != nil {
			return err
		}
		m, err := asMessage(obj)
		if err != nil {
			return err
		}
		total += protowire.SizeTag(listItems) + protowire.SizeBytes(m.Size())
	}
	if _, err := w.Write(envelopeStart(l.header, total)); err != nil {
		return err
	}
	for obj, err := range l.items {
		if err != nil {
			return err
		}
		m, err := asMessage(obj)
		if err != nil {
			return err
		}
		size := m.Size()
		if buf, err = appendMessage(appendLength(buf, listItems, size), m, size); err != nil {
			return err
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	_, err = w.Write(append(buf, envelopeEnd...))
	return err
}

// protobufFrame makes a frame of a watch: four bytes of length, then a
// metav1.WatchEvent which has no envelope around it but one inside.
func protobufFrame(kind string, object []byte) []byte {
	raw := protowire.SizeTag(rawExtensionRaw) + protowire.SizeBytes(len(object))
	out := make([]byte, 4, 4+len(kind)+raw+16)
	out = appendBytesField(out, eventType, []byte(kind))
	out = appendLength(out, eventObject, raw)
	out = appendBytesField(out, rawExtensionRaw, object)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}
