package encoding

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxMessageDepth limits the nesting of protobuf messages. The decoders of JSON and YAML have the
// same limit built in.
const maxMessageDepth = 10000

// boundedProtobuf rejects messages that are nested too deep before they are decoded: generated
// decoders recurse, and a stack overflow ends the process.
type boundedProtobuf struct {
	runtime.Serializer
}

// Decode implements runtime.Decoder.
func (b boundedProtobuf) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if len(data) > len(protobufMagic) && exceedsMessageDepth(data[len(protobufMagic):]) {
		return nil, nil, fmt.Errorf("messages are nested more than %d deep", maxMessageDepth)
	}
	return b.Serializer.Decode(data, defaults, into)
}

// exceedsMessageDepth reports whether messages in data are nested more than maxMessageDepth deep.
// It reads data once, without the type: every field that parses as a message counts as one. Strings
// and bytes stop parsing as messages after a few levels. It accepts the same malformed input as
// generated decoders; otherwise it would miss the fields after that input.
func exceedsMessageDepth(data []byte) bool {
	ends := []int{len(data)} // of the messages around the current position, the innermost last
	for at := 0; at < len(data); {
		for at == ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		end := ends[len(ends)-1]
		inside, after, ok := readField(data[:end], at)
		switch {
		case !ok:
			at = end // not a message
		case inside == after:
			at = after
		case len(ends) > maxMessageDepth:
			return true
		default:
			at, ends = inside, append(ends, after)
		}
	}
	return false
}

// readField returns the position after the field at a position. If the field may be a message,
// inside is where its content begins; otherwise inside equals after.
func readField(data []byte, at int) (inside, after int, ok bool) {
	tag, at, ok := readVarint(data, at)
	if !ok || int32(tag>>3) <= 0 {
		return 0, 0, false
	}
	switch protowire.Type(tag & 7) {
	case protowire.VarintType:
		_, at, ok = readVarint(data, at)
	case protowire.Fixed64Type:
		at += 8
	case protowire.Fixed32Type:
		at += 4
	case protowire.BytesType:
		var size uint64
		size, at, ok = readVarint(data, at)
		return at, at + int(size), ok && size <= uint64(len(data)-at)
	case protowire.StartGroupType, protowire.EndGroupType: // have no content of their own
	default:
		return 0, 0, false
	}
	return at, at, ok && at <= len(data)
}

// readVarint drops the bits that do not fit into 64, as generated decoders do.
func readVarint(data []byte, at int) (value uint64, after int, ok bool) {
	for shift := 0; shift < 64 && at < len(data); shift += 7 {
		b := data[at]
		at++
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value, at, true
		}
	}
	return 0, 0, false
}
