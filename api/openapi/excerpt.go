package openapi

import (
	"crypto/sha512"
	"sync"
)

// excerpt is a part of the document of version 2. It is encoded once and shared by the documents
// that contain it.
//
// Invariant: it is immutable.
type excerpt struct {
	sections
	hash [sha512.Size]byte
	// protobuf returns the encoding of a document with nothing but the excerpt.
	protobuf func() ([]byte, error)
}

// sections holds the members of a document that depend on the catalog.
type sections struct{ paths, definitions, parameters members }

func newExcerpt(s sections) *excerpt {
	return &excerpt{
		sections: s,
		hash:     sha512.Sum512(v2Text(members{}, s).join()),
		protobuf: sync.OnceValues(func() ([]byte, error) { return excerptProtobuf(s) }),
	}
}

// v2Joined joins excerpts to a document.
func v2Joined(release string, excerpts []*excerpt) *Document {
	header := v2Header(release)
	var all sections
	hash := sha512.New()
	hash.Write(header.text.join())
	for _, e := range excerpts {
		all.paths.add(e.paths.text)
		all.definitions.add(e.definitions.text)
		all.parameters.add(e.parameters.text)
		hash.Write(e.hash[:])
	}
	return &Document{
		Hash:     hashText(hash),
		text:     v2Text(header, all),
		protobuf: func() ([]byte, error) { return v2Protobuf(header, excerpts) },
	}
}
