package kind

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/miniapi/miniapi/storage"
)

var _ storage.MessageCodec = (*Codec)(nil)

// The fields of runtime.Unknown and of its TypeMeta.
const (
	unknownTypeMeta, unknownRaw      = 1, 2
	typeMetaAPIVersion, typeMetaKind = 1, 2
)

// Message implements storage.MessageCodec. It returns false unless a value has the hub version, in
// the envelope that Encode writes, and the kind has no Restore function.
func (c *Codec) Message(data []byte) ([]byte, bool) {
	if c.Restore != nil {
		return nil, false
	}
	return c.open(data)
}

// open returns the message in the envelope that Encode writes, if it is of the hub version.
func (c *Codec) open(data []byte) ([]byte, bool) {
	data, ok := bytes.CutPrefix(data, envelope[:])
	if !ok {
		return nil, false
	}
	head, data, ok := cutField(data, unknownTypeMeta)
	if !ok || !c.isHead(head) {
		return nil, false
	}
	message, data, ok := cutField(data, unknownRaw)
	return message, ok && isPlain(data)
}

// isHead reports whether a TypeMeta names the kind.
func (c *Codec) isHead(head []byte) bool {
	apiVersion, head, ok := cutField(head, typeMetaAPIVersion)
	if !ok {
		return false
	}
	name, head, ok := cutField(head, typeMetaKind)
	if !ok || len(head) > 0 || string(name) != c.Kind.Kind {
		return false
	}
	group, version, found := bytes.Cut(apiVersion, []byte("/"))
	if !found {
		group, version = nil, apiVersion
	}
	return string(group) == c.Kind.Group && string(version) == c.Kind.Version
}

// isPlain reports whether the end of an envelope has neither a content encoding nor a content type.
func isPlain(end []byte) bool {
	return len(end) == 0 || string(end) == "\x1a\x00\x22\x00"
}

// cutField splits off the first field of data, which must have the given number.
func cutField(data []byte, number protowire.Number) (value, rest []byte, ok bool) {
	got, kind, tag := protowire.ConsumeTag(data)
	if tag < 0 || got != number || kind != protowire.BytesType {
		return nil, nil, false
	}
	value, n := protowire.ConsumeBytes(data[tag:])
	if n < 0 {
		return nil, nil, false
	}
	return value, data[tag+n:], true
}
