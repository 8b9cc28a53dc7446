package openapi

import (
	"crypto/sha512"
	"fmt"
	"hash"
	"slices"
	"strconv"
)

// Document is a document and its name in time. It never changes, and is safe for
// concurrent use.
type Document struct {
	// Hash is the same as long as the content is.
	Hash string

	text     pieces
	protobuf func() ([]byte, error)
}

// JSON returns the document, which belongs to the caller.
func (d *Document) JSON() []byte { return d.text.join() }

// Protobuf returns the same in gnostic's protobuf encoding. It must not be
// written to.
func (d *Document) Protobuf() ([]byte, error) { return d.protobuf() }

// pieces are a text in parts. Documents have many of them in common, so that
// neither a piece nor what is behind the last one may be written to.
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

// members of a JSON object, without its braces.
type members struct{ text pieces }

// add puts members behind those that are there.
func (m *members) add(list pieces) {
	if len(list) == 0 {
		return
	}
	if len(m.text) > 0 {
		m.text = append(m.text, []byte(","))
	}
	m.text = append(m.text, list...)
}

// set adds one member, whose value is JSON.
func (m *members) set(name string, value ...[]byte) {
	m.add(append(pieces{append(strconv.AppendQuote(nil, name), ':')}, value...))
}

// object puts the braces around.
func (m *members) object() pieces {
	return slices.Concat(pieces{[]byte("{")}, m.text, pieces{[]byte("}")})
}
