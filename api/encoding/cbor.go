package encoding

import (
	"bytes"
	"encoding/binary"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// cborMagic is the tag of self-described CBOR. It begins every document, and the object of every
// watch event.
const cborMagic = "\xd9\xd9\xf7"

// Major types of CBOR data items.
const (
	cborBytes, cborText   = 2, 3
	cborArray, cborMap    = 4, 5
	cborTag, cborSimple   = 6, 7
	cborIndefinite        = 31 // the additional information of an item without a length
	cborArgumentSize1     = 24 // ... of an item with an argument of 1, 2, 4 or 8 bytes
	cborLargestInHeadByte = cborArgumentSize1 - 1
)

// cborMediaType returns the row of CBOR in the table of media types. Maps are encoded in random
// order, as by kube-apiserver.
func cborMediaType(scheme *runtime.Scheme) MediaType {
	info := cbor.NewSerializerInfo(scheme, scheme)
	serializer := cbor.NewSerializer(scheme, scheme)
	return MediaType{
		Type: runtime.ContentTypeCBOR, Stream: runtime.ContentTypeCBORSequence, watchType: runtime.ContentTypeCBORSequence,
		form: "cbor", wrap: cborWrap, list: cborList, frame: cborFrame,
		encode: func(obj runtime.Object) ([]byte, error) { return cborBody(serializer, obj) },
		check:  CheckCBORDepth, lax: info.Serializer, strict: info.StrictSerializer,
	}
}

// cborBody encodes an object without apiVersion and kind: a map without the tag before it.
func cborBody(serializer runtime.NondeterministicEncoder, obj runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	if err := serializer.EncodeNondeterministic(withoutHeader(obj), &out); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimPrefix(out.Bytes(), []byte(cborMagic))), nil
}

// appendCBORHead appends the head of a data item with a definite length.
func appendCBORHead(dst []byte, major byte, argument uint64) []byte {
	major <<= 5
	switch {
	case argument <= cborLargestInHeadByte:
		return append(dst, major|byte(argument))
	case argument <= 0xff:
		return append(dst, major|cborArgumentSize1, byte(argument))
	case argument <= 0xffff:
		return binary.BigEndian.AppendUint16(append(dst, major|(cborArgumentSize1+1)), uint16(argument))
	case argument <= 0xffffffff:
		return binary.BigEndian.AppendUint32(append(dst, major|(cborArgumentSize1+2)), uint32(argument))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|(cborArgumentSize1+3)), argument)
}

// readCBORHead splits off the head of a data item. The argument of an item without a length is 0.
// ok is false for malformed data.
func readCBORHead(data []byte) (major, info byte, argument uint64, rest []byte, ok bool) {
	if len(data) == 0 {
		return 0, 0, 0, nil, false
	}
	major, info, rest = data[0]>>5, data[0]&0x1f, data[1:]
	switch {
	case info <= cborLargestInHeadByte:
		return major, info, uint64(info), rest, true
	case info == cborIndefinite:
		return major, info, 0, rest, true
	case info > cborArgumentSize1+3:
		return 0, 0, 0, nil, false
	}
	size := 1 << (info - cborArgumentSize1)
	if len(rest) < size {
		return 0, 0, 0, nil, false
	}
	for _, b := range rest[:size] {
		argument = argument<<8 | uint64(b)
	}
	return major, info, argument, rest[size:], true
}

// appendCBORString appends a string as kube-apiserver encodes it: as bytes.
func appendCBORString(dst []byte, s string) []byte {
	return append(appendCBORHead(dst, cborBytes, uint64(len(s))), s...)
}

func appendCBORPair(dst []byte, key, value string) []byte {
	return appendCBORString(appendCBORString(dst, key), value)
}

// appendCBORStart appends the beginning of a body under a type header and returns the rest of the
// body.
func appendCBORStart(dst []byte, header metav1.TypeMeta, body []byte) (start, rest []byte) {
	_, _, pairs, rest, _ := readCBORHead(body)
	if header.Kind != "" {
		pairs++
	}
	if header.APIVersion != "" {
		pairs++
	}
	return appendCBORHeader(appendCBORHead(dst, cborMap, pairs), header), rest
}

// appendCBORHeader appends the pairs of a type header that are not empty.
func appendCBORHeader(dst []byte, header metav1.TypeMeta) []byte {
	if header.Kind != "" {
		dst = appendCBORPair(dst, "kind", header.Kind)
	}
	if header.APIVersion != "" { // it is empty in the discovery document of the legacy group
		dst = appendCBORPair(dst, "apiVersion", header.APIVersion)
	}
	return dst
}

func cborWrap(dst []byte, header metav1.TypeMeta, b Body) Document {
	start, rest := appendCBORStart(append(dst, cborMagic...), header, b.bytes)
	return Document{start: start, rest: rest}
}

func cborList(w io.Writer, l List) error {
	meta, err := direct.Marshal(l.metadata())
	if err != nil {
		return err
	}
	const pairs = 4 // kind, apiVersion, metadata, items
	buf := appendCBORHeader(appendCBORHead([]byte(cborMagic), cborMap, pairs), l.Header)
	buf = append(appendCBORString(buf, "metadata"), meta...)
	buf = appendCBORHead(appendCBORString(buf, "items"), cborArray, uint64(l.Len))
	for b, err := range l.Items {
		if err != nil {
			return err
		}
		item := Document{}
		item.start, item.rest = appendCBORStart(buf, l.ItemHeader, b.bytes)
		if err := item.Write(w); err != nil {
			return err
		}
		buf = item.start[:0]
	}
	return Document{start: buf}.Write(w)
}

// cborFrame makes a frame of a watch, which is an item of a CBOR sequence: a metav1.WatchEvent
// whose object has a tag of its own.
func cborFrame(dst []byte, eventType string, header metav1.TypeMeta, b Body) Document {
	const pairs = 2 // type, object
	dst = appendCBORHead(append(dst, cborMagic...), cborMap, pairs)
	return cborWrap(appendCBORString(appendCBORPair(dst, "type", eventType), "object"), header, b)
}
