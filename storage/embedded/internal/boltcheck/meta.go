package boltcheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a meta page: a page header, then these fields in the byte order of the machine.
// The last field is a checksum of the fields before it.
const (
	pageHeaderSize = 16
	metaSize       = 64
	metaChecksum   = 56

	metaMagic   = 0xED0CDAED
	metaVersion = 2

	// noFreelist instead of a page number means that the file has no free list.
	noFreelist = ^uint64(0)

	minPageSize = 1 << 10
	maxPageSize = 1 << 24
)

// meta describes the tree of one transaction.
type meta struct {
	pageSize int64
	root     uint64 // page of the root bucket
	freelist uint64 // page of the free list, or noFreelist
	pages    uint64 // number of pages ever in use
	txid     uint64
}

// decodeMeta decodes a meta page. It returns false if the page is not a complete meta page.
func decodeMeta(page []byte) (meta, bool) {
	data := page[pageHeaderSize : pageHeaderSize+metaSize]
	order := binary.NativeEndian
	if order.Uint32(data) != metaMagic || order.Uint32(data[4:]) != metaVersion {
		return meta{}, false
	}
	sum := fnv.New64a()
	_, _ = sum.Write(data[:metaChecksum]) // a hash does not fail
	if sum.Sum64() != order.Uint64(data[metaChecksum:]) {
		return meta{}, false
	}
	return meta{
		pageSize: int64(order.Uint32(data[8:])),
		root:     order.Uint64(data[16:]),
		freelist: order.Uint64(data[32:]),
		pages:    order.Uint64(data[40:]),
		txid:     order.Uint64(data[48:]),
	}, true
}

// readMeta returns the meta page that bbolt would use: the newer valid one of the two at the start
// of the file.
func readMeta(file io.ReaderAt, size int64) (meta, error) {
	pageSize, err := findPageSize(file)
	if err != nil {
		return meta{}, err
	}
	var newest meta
	for id := range int64(2) {
		page := make([]byte, pageHeaderSize+metaSize)
		if _, err := file.ReadAt(page, id*pageSize); err != nil {
			return meta{}, fmt.Errorf("meta page %d: %w", id, unexpected(err))
		}
		if m, ok := decodeMeta(page); ok && m.txid >= newest.txid {
			newest = m
		}
	}
	return newest, newest.validate(size)
}

// findPageSize reads the page size from a meta page: the first one is at the start of the file,
// the second one is the next page.
func findPageSize(file io.ReaderAt) (int64, error) {
	page := make([]byte, pageHeaderSize+metaSize)
	for offset := int64(0); offset <= maxPageSize; offset = max(minPageSize, 2*offset) {
		if _, err := file.ReadAt(page, offset); err != nil {
			break
		}
		if m, ok := decodeMeta(page); ok && (offset == 0 || offset == m.pageSize) {
			return m.pageSize, nil
		}
	}
	return 0, errors.New("neither of the two meta pages is valid")
}

// validate checks the meta page against the size of the file.
func (m meta) validate(size int64) error {
	if m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return fmt.Errorf("meta page: page size %d", m.pageSize)
	}
	if m.pages > uint64(size/m.pageSize) {
		return fmt.Errorf("truncated: %d pages of %d bytes do not fit into %d bytes", m.pages, m.pageSize, size)
	}
	if m.root >= m.pages {
		return fmt.Errorf("meta page: root bucket on page %d of %d", m.root, m.pages)
	}
	if m.freelist >= m.pages && m.freelist != noFreelist {
		return fmt.Errorf("meta page: free list on page %d of %d", m.freelist, m.pages)
	}
	return nil
}

// unexpected replaces io.EOF by io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
