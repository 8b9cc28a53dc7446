package boltcheck

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// read reads a page and its overflow pages into the buffer of the depth, and marks them as
// reached.
func (w *walk) read(id uint64, depth int) (page, error) {
	if id >= w.meta.pages {
		return page{}, fmt.Errorf("page %d: the file has only %d pages", id, w.meta.pages)
	}
	size := int(w.meta.pageSize)
	buffer := slices.Grow(w.buffers[depth][:0], size)[:size]
	if err := w.fill(buffer, id); err != nil {
		return page{}, err
	}
	if own := binary.NativeEndian.Uint64(buffer); own != id {
		return page{}, fmt.Errorf("page %d: contains the page number %d", id, own)
	}
	last := id + uint64(page{data: buffer}.overflow())
	if last >= w.meta.pages {
		return page{}, fmt.Errorf("page %d: overflows to page %d of %d", id, last, w.meta.pages)
	}
	for reached := id; reached <= last; reached++ {
		if err := w.reach(reached); err != nil {
			return page{}, err
		}
	}
	if more := int(last-id) * size; more > 0 {
		buffer = slices.Grow(buffer, more)[:size+more]
		if err := w.fill(buffer[size:], id+1); err != nil {
			return page{}, err
		}
	}
	w.buffers[depth] = buffer
	return page{id: id, data: buffer}, nil
}

func (w *walk) fill(buffer []byte, id uint64) error {
	if _, err := w.file.ReadAt(buffer, int64(id)*w.meta.pageSize); err != nil {
		return fmt.Errorf("page %d: %w", id, unexpected(err))
	}
	return nil
}

// reach marks a page as in use, and returns an error if it is already.
func (w *walk) reach(id uint64) error {
	word, bit := &w.seen[id/64], uint64(1)<<(id%64)
	if *word&bit != 0 {
		return fmt.Errorf("page %d: in use twice", id)
	}
	*word |= bit
	return nil
}

// freelist checks the free list of the file, if there is one. It runs last, because free pages
// must not be in use.
func (w *walk) freelist() error {
	if w.meta.freelist == noFreelist {
		return nil
	}
	p, err := w.read(w.meta.freelist, 0)
	if err != nil {
		return err
	}
	if p.kind() != freelistPage {
		return fmt.Errorf("page %d: has type %#x, not a free list", p.id, p.kind())
	}
	ids, err := p.freeIDs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id >= w.meta.pages {
			return fmt.Errorf("page %d: free page %d of %d", p.id, id, w.meta.pages)
		}
		if err := w.reach(id); err != nil {
			return err
		}
	}
	return nil
}

// bucketRoot returns the page of a bucket's root from its header.
func bucketRoot(header []byte) uint64 { return binary.NativeEndian.Uint64(header) }
