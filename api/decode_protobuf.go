package api

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxNesting is how deep messages may lie in one another: as deep as JSON and
// YAML may nest, whose decoders count by themselves.
const maxNesting = 10000

// boundedProtobuf refuses messages that nest too deep before anybody walks
// through them: a stack that overflows takes the whole process along.
type boundedProtobuf struct {
	runtime.Serializer
}

// Decode implements runtime.Decoder.
func (b boundedProtobuf) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if len(data) > len(protobufMagic) && nestsTooDeep(data[len(protobufMagic):]) {
		return nil, nil, fmt.Errorf("messages are nested more than %d deep", maxNesting)
	}
	return b.Serializer.Decode(data, defaults, into)
}

// nestsTooDeep reads data once. It does not know the type, and takes everything
// for a message that reads like one: texts and bytes end such an attempt after
// a few levels. What generated decoders forgive it forgives too, for otherwise
// it would not see what comes after.
func nestsTooDeep(data []byte) bool {
	ends := []int{len(data)} // of the messages that the position lies in
	for at := 0; at < len(data); {
		for at == ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		end := ends[len(ends)-1]
		inside, after, ok := readField(data[:end], at)
		switch {
		case !ok:
			at = end // it was no message after all
		case inside == after:
			at = after
		case len(ends) > maxNesting:
			return true
		default:
			at, ends = inside, append(ends, after)
		}
	}
	return false
}

// readField returns where the field at a position ends, and where its content
// begins if that may be a message.
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
	case protowire.StartGroupType, protowire.EndGroupType: // fields like any other
	default:
		return 0, 0, false
	}
	return at, at, ok && at <= len(data)
}

// readVarint lets bits that do not fit fall away, as generated decoders do.
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
