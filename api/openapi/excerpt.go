package openapi

import (
	"crypto/sha512"
	"sync"
)

// excerpt is some of the document of version 2. It is encoded once, for whatever
// documents it becomes part of.
//
// Invariant: it never changes after it is built.
type excerpt struct {
	sections
	hash [sha512.Size]byte
	// protobuf is the same as a document that has nothing else.
	protobuf func() ([]byte, error)
}

// sections are what grows with what is described.
type sections struct{ paths, definitions, parameters members }

func newExcerpt(s sections) *excerpt {
	return &excerpt{
		sections: s,
		hash:     sha512.Sum512(v2Text(members{}, s).join()),
		protobuf: sync.OnceValues(func() ([]byte, error) { return excerptProtobuf(s) }),
	}
}

// v2Joined makes one document of excerpts.
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
