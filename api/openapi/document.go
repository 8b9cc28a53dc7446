package openapi

import (
	"crypto/sha512"
	"fmt"
	"hash"
	"slices"
	"strconv"
)

// Document is an OpenAPI document. It is immutable and safe for concurrent use.
type Document struct {
	// Hash identifies the content.
	Hash string

	text     pieces
	protobuf func() ([]byte, error)
}

// JSON returns the document in JSON. The caller owns the result.
func (d *Document) JSON() []byte { return d.text.join() }

// Protobuf returns the document in gnostic's protobuf encoding. The result is shared and must not
// be changed.
func (d *Document) Protobuf() ([]byte, error) { return d.protobuf() }

// pieces is a text in parts. Documents share pieces: neither a piece nor the capacity of the slice
// behind the last one may be written to.
type pieces [][]byte

func (p pieces) join() []byte { return slices.Concat(p...) }

func (p pieces) hash() string {
	hash := sha512.New()
	for _, piece := range p {
		hash.Write(piece)
	}
	return hashText(hash)
}

func hashText(h hash.Hash) string { return fmt.Sprintf("%X", h.Sum(nil)) }

// members holds the members of a JSON object without its braces.
type members struct{ text pieces }

// add appends members.
func (m *members) add(list pieces) {
	if len(list) == 0 {
		return
	}
	if len(m.text) > 0 {
		m.text = append(m.text, []byte(","))
	}
	m.text = append(m.text, list...)
}

// set appends a member with a JSON value.
func (m *members) set(name string, value ...[]byte) {
	m.add(append(pieces{append(strconv.AppendQuote(nil, name), ':')}, value...))
}

// object returns the members with braces.
func (m *members) object() pieces {
	return slices.Concat(pieces{[]byte("{")}, m.text, pieces{[]byte("}")})
}
