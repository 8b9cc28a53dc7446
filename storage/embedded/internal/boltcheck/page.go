package boltcheck

import (
	"encoding/binary"
	"fmt"
)

// The types of pages, by their flags.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// The layout of a page after its header: elements of 16 bytes each, then the data that they point
// to.
const (
	elementSize = 16

	// bucketElement is the flag of a leaf element whose value is a bucket.
	bucketElement = 0x01
	// bucketHeaderSize is the size of the header of a bucket: the page of its root, and a sequence
	// number. If the page is 0, the root follows the header.
	bucketHeaderSize = 16

	// manyFree instead of the count of a free list means that the first element is the count.
	manyFree = 0xFFFF
)

// page is a page with its overflow pages.
type page struct {
	id   uint64
	data []byte
}

func (p page) kind() uint16     { return binary.NativeEndian.Uint16(p.data[8:]) }
func (p page) count() int       { return int(binary.NativeEndian.Uint16(p.data[10:])) }
func (p page) overflow() uint32 { return binary.NativeEndian.Uint32(p.data[12:]) }

// element is an element of a branch, with a child, or of a leaf, with a value.
type element struct {
	key    []byte
	value  []byte
	child  uint64
	bucket bool
}

// element returns the i-th element. i must be less than count.
func (p page) element(i int) (element, error) {
	at := pageHeaderSize + i*elementSize
	if at+elementSize > len(p.data) {
		return element{}, fmt.Errorf("page %d: element %d is outside the page", p.id, i)
	}
	head, rest := p.data[at:at+elementSize], p.data[at:]
	order := binary.NativeEndian
	if p.kind() == branchPage {
		pos, size := uint64(order.Uint32(head)), uint64(order.Uint32(head[4:]))
		if pos+size > uint64(len(rest)) {
			return element{}, fmt.Errorf("page %d: the key of element %d is outside the page", p.id, i)
		}
		return element{key: rest[pos : pos+size], child: order.Uint64(head[8:])}, nil
	}
	flags, pos := order.Uint32(head), uint64(order.Uint32(head[4:]))
	keySize, valueSize := uint64(order.Uint32(head[8:])), uint64(order.Uint32(head[12:]))
	if pos+keySize+valueSize > uint64(len(rest)) {
		return element{}, fmt.Errorf("page %d: element %d ends outside the page", p.id, i)
	}
	if flags&^bucketElement != 0 {
		return element{}, fmt.Errorf("page %d: element %d has flags %#x", p.id, i, flags)
	}
	end := pos + keySize
	return element{key: rest[pos:end], value: rest[end : end+valueSize], bucket: flags == bucketElement}, nil
}

// freeIDs returns the page numbers on a free list.
func (p page) freeIDs() ([]uint64, error) {
	order := binary.NativeEndian
	data, count := p.data[pageHeaderSize:], uint64(p.count())
	if count == manyFree {
		count, data = order.Uint64(data), data[8:]
	}
	if count > uint64(len(data))/8 {
		return nil, fmt.Errorf("page %d: a free list of %d pages does not fit", p.id, count)
	}
	ids := make([]uint64, count)
	for i := range ids {
		ids[i] = order.Uint64(data[8*i:])
	}
	return ids, nil
}
