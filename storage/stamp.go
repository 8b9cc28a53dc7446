package storage

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/miniapi/miniapi/versioner"
)

// Stamped is the protobuf encoding of an object, made from the stored bytes by inserting its
// resourceVersion. It equals the result of decoding and encoding the object. Only the bytes before
// the resourceVersion are copied.
type Stamped struct {
	begin    []byte // the metadata before the resourceVersion
	rest     []byte // the message after the resourceVersion
	metadata int    // length of the metadata with the resourceVersion
	revision int64
}

// Field numbers of the metadata in every kind, and of the resourceVersion in the metadata.
const (
	fieldMetadata        protowire.Number = 1
	fieldResourceVersion protowire.Number = 6
)

// stamp returns false for a message that current encoders do not write.
func stamp(message []byte, revision int64) (Stamped, bool) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 || number != fieldMetadata || kind != protowire.BytesType {
		return Stamped{}, false
	}
	metadata, n := protowire.ConsumeBytes(message[tag:])
	if n < 0 {
		return Stamped{}, false
	}
	if next, _, _ := protowire.ConsumeTag(message[tag+n:]); next == fieldMetadata {
		return Stamped{}, false // a second metadata field, which a decoder merges with the first
	}
	start := tag + n - len(metadata)
	at, empty, ok := versionAt(metadata)
	if !ok || revision <= 0 {
		return Stamped{}, false
	}
	s := Stamped{begin: metadata[:at], rest: message[start+at+empty:], revision: revision}
	s.metadata = len(metadata) - empty + s.versionSize()
	return s, true
}

// versionAt returns the offset of the resourceVersion in the metadata, and the size of the empty
// field at that offset. It returns false if the fields are out of order or the metadata has a
// resourceVersion.
func versionAt(metadata []byte) (at, empty int, ok bool) {
	var last protowire.Number
	found := false
	for i := 0; i < len(metadata); {
		number, kind, tag := protowire.ConsumeTag(metadata[i:])
		if tag < 0 || number < last {
			return 0, 0, false
		}
		size := protowire.ConsumeFieldValue(number, kind, metadata[i+tag:])
		if size < 0 {
			return 0, 0, false
		}
		if number >= fieldResourceVersion && !found {
			found, at = true, i
		}
		if number == fieldResourceVersion {
			if empty != 0 || kind != protowire.BytesType || size != 1 {
				return 0, 0, false
			}
			empty = tag + size
		}
		last, i = number, i+tag+size
	}
	if !found {
		at = len(metadata)
	}
	return at, empty, true
}

// Size returns the length of the whole message.
func (s Stamped) Size() int {
	return protowire.SizeTag(fieldMetadata) + protowire.SizeVarint(uint64(s.metadata)) +
		len(s.begin) + s.versionSize() + len(s.rest)
}

// AppendStart appends the part of the message before Rest.
func (s Stamped) AppendStart(dst []byte) []byte {
	dst = protowire.AppendTag(dst, fieldMetadata, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(s.metadata))
	dst = append(dst, s.begin...)
	var digits [20]byte
	version := versioner.AppendFormat(digits[:0], s.revision)
	dst = protowire.AppendTag(dst, fieldResourceVersion, protowire.BytesType)
	return protowire.AppendBytes(dst, version)
}

// Rest returns the end of the message, which must not be modified.
func (s Stamped) Rest() []byte { return s.rest }

// versionSize returns the size of the field of the resourceVersion.
func (s Stamped) versionSize() int {
	digits := 1
	for n := s.revision; n >= 10; n /= 10 {
		digits++
	}
	return protowire.SizeTag(fieldResourceVersion) + protowire.SizeBytes(digits)
}
