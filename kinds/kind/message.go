package kind

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/miniapi/miniapi/storage"
)

var _ storage.MessageCodec = (*Codec)(nil)

// Fields of runtime.Unknown, and of the TypeMeta in it.
const (
	unknownTypeMeta, unknownRaw      = 1, 2
	typeMetaAPIVersion, typeMetaKind = 1, 2
)

// Message implements storage.MessageCodec. It is false for everything but the
// hub version in the envelope that Encode makes, and for kinds which need
// something restored.
func (c *Codec) Message(data []byte) ([]byte, bool) {
	if c.Restore != nil {
		return nil, false
	}
	return c.open(data)
}

// open takes the hub version out of the envelope that Encode makes.
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

// isHead tells whether a TypeMeta names the kind.
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

// isPlain tells whether the end of an envelope says nothing of an encoding or
// a type of the content.
func isPlain(end []byte) bool {
	return len(end) == 0 || string(end) == "\x1a\x00\x22\x00"
}

// cutField takes the field that data begins with.
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
