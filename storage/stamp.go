package storage

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/miniapi/miniapi/versioner"
)

// Stamped is the protobuf encoding of an object, made of the bytes at rest by
// putting its resourceVersion in, as decoding and encoding it would. A copy is
// made of what comes before the version only.
type Stamped struct {
	begin    []byte // of the metadata, up to the resourceVersion
	rest     []byte // of the message, behind the resourceVersion
	metadata int    // length of the metadata, resourceVersion included
	revision int64
}

// Numbers of fields: the metadata of every kind, and within it.
const (
	fieldMetadata        protowire.Number = 1
	fieldResourceVersion protowire.Number = 6
)

// stamp is false for a message that no encoder of today would have written.
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
		return Stamped{}, false // a second part to be merged with the first
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

// versionAt finds where in the metadata the resourceVersion belongs, and the
// size of the empty one that stands there. False: the fields are not in
// order, or there is a version already.
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

// Size of the whole message.
func (s Stamped) Size() int {
	return protowire.SizeTag(fieldMetadata) + protowire.SizeVarint(uint64(s.metadata)) +
		len(s.begin) + s.versionSize() + len(s.rest)
}

// AppendStart appends the message up to Rest.
func (s Stamped) AppendStart(dst []byte) []byte {
	dst = protowire.AppendTag(dst, fieldMetadata, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(s.metadata))
	dst = append(dst, s.begin...)
	var digits [20]byte
	version := versioner.AppendFormat(digits[:0], s.revision)
	dst = protowire.AppendTag(dst, fieldResourceVersion, protowire.BytesType)
	return protowire.AppendBytes(dst, version)
}

// Rest is the end of the message. It must not be written to.
func (s Stamped) Rest() []byte { return s.rest }

// versionSize is the size of the field with the resourceVersion in it.
func (s Stamped) versionSize() int {
	digits := 1
	for n := s.revision; n >= 10; n /= 10 {
		digits++
	}
	return protowire.SizeTag(fieldResourceVersion) + protowire.SizeBytes(digits)
}
