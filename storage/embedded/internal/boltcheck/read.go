package boltcheck

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// read reads a page and its overflow pages into the buffer for the depth, and
// notes that they are reached.
func (w *walk) read(id uint64, depth int) (page, error) {
	if id >= w.meta.pages {
		return page{}, fmt.Errorf("page %d: there are only %d", id, w.meta.pages)
	}
	size := int(w.meta.pageSize)
	buffer := slices.Grow(w.buffers[depth][:0], size)[:size]
	if err := w.fill(buffer, id); err != nil {
		return page{}, err
	}
	if own := binary.NativeEndian.Uint64(buffer); own != id {
		return page{}, fmt.Errorf("page %d: says that it is %d", id, own)
	}
	last := id + uint64(page{data: buffer}.overflow())
	if last >= w.meta.pages {
		return page{}, fmt.Errorf("page %d: goes on to page %d of %d", id, last, w.meta.pages)
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

// reach notes that a page is in use, which it can be only once.
func (w *walk) reach(id uint64) error {
	word, bit := &w.seen[id/64], uint64(1)<<(id%64)
	if *word&bit != 0 {
		return fmt.Errorf("page %d: in use twice", id)
	}
	*word |= bit
	return nil
}

// freelist checks the list of free pages where the file keeps one. It comes
// last: what is free must not be in use.
func (w *walk) freelist() error {
	if w.meta.freelist == noFreelist {
		return nil
	}
	p, err := w.read(w.meta.freelist, 0)
	if err != nil {
		return err
	}
	if p.kind() != freelistPage {
		return fmt.Errorf("page %d: no free list, but %#x", p.id, p.kind())
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
