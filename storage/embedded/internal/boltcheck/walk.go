package boltcheck

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// maxDepth is far more than a tree of 2^63 bytes needs.
const maxDepth = 64

// Visit is called with the keys and values of the top-level buckets, in their order. The slices
// are valid until it returns. Its error ends the walk.
type Visit func(bucket string, key, value []byte) error

// Walk reads a database file of the given size and returns the first error that it finds. The file
// must not be written to during the walk.
func Walk(ctx context.Context, file io.ReaderAt, size int64, visit Visit) error {
	m, err := readMeta(file, size)
	if err != nil {
		return err
	}
	w := &walk{ctx: ctx, file: file, meta: m, visit: visit, seen: make([]uint64, m.pages/64+1)}
	w.seen[0] = 1<<0 | 1<<1 // the two meta pages
	if err := w.subtree(m.root, place{}); err != nil {
		return err
	}
	return w.freelist()
}

type walk struct {
	ctx   context.Context
	file  io.ReaderAt
	meta  meta
	visit Visit
	seen  []uint64 // a bit for each page
	// buffers hold the pages from the root to the current one.
	buffers [maxDepth][]byte
}

// place is the position of a page in the tree.
type place struct {
	depth    int
	bucket   string // "" in the root bucket
	from, to []byte // its keys k are from <= k < to; nil: no bound
}

func (pl place) below(from, to []byte) place {
	return place{depth: pl.depth + 1, bucket: pl.bucket, from: from, to: to}
}

func (pl place) holds(key []byte) bool {
	return bytes.Compare(key, pl.from) >= 0 && (pl.to == nil || bytes.Compare(key, pl.to) < 0)
}

// subtree walks a page and the pages below it.
func (w *walk) subtree(id uint64, at place) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if at.depth >= maxDepth {
		return fmt.Errorf("page %d: the tree is deeper than %d pages", id, maxDepth)
	}
	p, err := w.read(id, at.depth)
	if err != nil {
		return err
	}
	switch p.kind() {
	case branchPage:
		return w.branch(p, at)
	case leafPage:
		return w.leaf(p, at)
	default:
		return fmt.Errorf("page %d: has type %#x, neither branch nor leaf", id, p.kind())
	}
}

func (w *walk) branch(p page, at place) error {
	if p.count() == 0 {
		return fmt.Errorf("page %d: is a branch without children", p.id)
	}
	current, err := p.element(0)
	if err != nil {
		return err
	}
	for i := range p.count() {
		next := element{key: at.to}
		if i+1 < p.count() {
			if next, err = p.element(i + 1); err != nil {
				return err
			}
			if bytes.Compare(current.key, next.key) >= 0 {
				return fmt.Errorf("page %d: keys %d and %d are out of order", p.id, i, i+1)
			}
		}
		if !at.holds(current.key) {
			return fmt.Errorf("page %d: key %d is outside the bounds of its parent", p.id, i)
		}
		if err := w.subtree(current.child, at.below(current.key, next.key)); err != nil {
			return err
		}
		current = next
	}
	return nil
}

func (w *walk) leaf(p page, at place) error {
	var previous []byte
	for i := range p.count() {
		e, err := p.element(i)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(previous, e.key) >= 0 {
			return fmt.Errorf("page %d: keys %d and %d are out of order", p.id, i-1, i)
		}
		if !at.holds(e.key) {
			return fmt.Errorf("page %d: key %d is outside the bounds of its parent", p.id, i)
		}
		if err := w.element(p, e, at); err != nil {
			return err
		}
		previous = e.key
	}
	return nil
}

func (w *walk) element(p page, e element, at place) error {
	switch {
	case e.bucket:
		return w.bucket(p, e, at)
	case at.bucket == "":
		return fmt.Errorf("page %d: key %q is outside any bucket", p.id, e.key)
	default:
		return w.visit(at.bucket, e.key, e.value)
	}
}

// bucket walks a bucket. It has a tree of its own or, if it is small, one leaf within the value.
func (w *walk) bucket(p page, e element, at place) error {
	if at.bucket != "" {
		return fmt.Errorf("page %d: bucket %q within bucket %q", p.id, e.key, at.bucket)
	}
	if len(e.value) < bucketHeaderSize {
		return fmt.Errorf("page %d: bucket %q has a header of %d bytes", p.id, e.key, len(e.value))
	}
	inner := place{depth: at.depth + 1, bucket: string(e.key)}
	if root := bucketRoot(e.value); root != 0 {
		return w.subtree(root, inner)
	}
	inline := page{id: p.id, data: e.value[bucketHeaderSize:]}
	if len(inline.data) < pageHeaderSize || inline.kind() != leafPage {
		return fmt.Errorf("page %d: bucket %q is not a leaf", p.id, e.key)
	}
	return w.leaf(inline, inner)
}
