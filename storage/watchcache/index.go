package watchcache

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/selection"

	"github.com/miniapi/miniapi/storage"
)

// indexes of a resource, by field. Each is made when a list first selects by its
// field, and brought up to date by the lists that use it: writes do not pay.
type indexes struct {
	mu      sync.Mutex // guards byField
	byField map[string]*index
}

// index finds the entries of a resource by the value of a field.
type index struct {
	field string

	// held by the reader that uses the index, for as long as it brings that up to date. A channel
	// and no mutex, for others wait no longer than their contexts. It guards what follows.
	held    chan struct{}
	reader  reader
	byValue map[string]map[string]*storage.Entry // by value of the field and by key
}

func (x *indexes) of(field string) *index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byField[field] == nil {
		if x.byField == nil {
			x.byField = map[string]*index{}
		}
		x.byField[field] = &index{field: field, held: make(chan struct{}, 1)}
	}
	return x.byField[field]
}

// indexed returns the field that a predicate asks to have one value.
func indexed(p storage.Predicate) (field, value string, ok bool) {
	if p.Field == nil {
		return "", "", false
	}
	for _, r := range p.Field.Requirements() {
		if (r.Operator == selection.Equals || r.Operator == selection.DoubleEquals) && r.Value != "" {
			return r.Field, r.Value, true
		}
	}
	return "", "", false
}

// find returns the entries whose field has a value, ordered by key, and the
// revision that this is true at.
func (x *index) find(ctx context.Context, l *listing, value string) ([]*storage.Entry, int64, error) {
	select {
	case x.held <- struct{}{}:
		defer func() { <-x.held }()
	case <-ctx.Done():
		return nil, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	}
	if err := x.catchUp(ctx, l); err != nil {
		x.byValue = nil
		return nil, 0, err
	}
	found := make([]*storage.Entry, 0, len(x.byValue[value]))
	for _, entry := range x.byValue[value] {
		found = append(found, entry)
	}
	slices.SortFunc(found, func(a, b *storage.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return found, x.reader.upTo, nil
}

// catchUp reads what has happened since the last time, or everything.
func (x *index) catchUp(ctx context.Context, l *listing) error {
	attrs := l.opts.Predicate.Attrs
	for x.byValue != nil && x.reader.read() {
		if len(x.reader.batch) == 0 {
			return nil
		}
		for _, e := range x.reader.batch {
			if err := x.replace(ctx, attrs, e); err != nil {
				return err
			}
		}
	}
	// There is no index yet, or the window has gone on without it.
	state, revision, err := l.cache.snapshot(l.resource, l.reached)
	if err != nil {
		return err
	}
	x.byValue = map[string]map[string]*storage.Entry{}
	x.reader = reader{cache: l.cache, resource: l.resource, begin: revision, upTo: revision}
	root := l.resource.root
	state.ascend(root, root, func(entry *storage.Entry) bool {
		err = x.add(ctx, attrs, entry)
		return err == nil
	})
	return err
}

// replace brings the index up to date with an event.
func (x *index) replace(ctx context.Context, attrs storage.AttrFunc, e *event) error {
	if e.before != nil {
		_, fields, err := e.before.Attributes(ctx, attrs)
		if err != nil {
			return err
		}
		value := fields.Get(x.field)
		if delete(x.byValue[value], e.key); len(x.byValue[value]) == 0 {
			delete(x.byValue, value)
		}
	}
	if e.after == nil {
		return nil
	}
	return x.add(ctx, attrs, e.after)
}

func (x *index) add(ctx context.Context, attrs storage.AttrFunc, entry *storage.Entry) error {
	_, fields, err := entry.Attributes(ctx, attrs)
	if err != nil {
		return err
	}
	value := fields.Get(x.field)
	if x.byValue[value] == nil {
		x.byValue[value] = map[string]*storage.Entry{}
	}
	x.byValue[value][entry.Key] = entry
	return nil
}

// lookUp answers a list from an index. It is false for a list that is answered
// faster, or only, from the state.
func (l *listing) lookUp(ctx context.Context) (*storage.Page, bool) {
	field, value, ok := indexed(l.opts.Predicate)
	if !ok || !l.opts.Recursive || l.plan.Exact || l.opts.Limit > 0 || l.opts.Continue != "" {
		return nil, false
	}
	if l.cache.size(l.resource) < l.cache.cfg.IndexFrom {
		return nil, false
	}
	found, revision, err := l.resource.indexes.of(field).find(ctx, l, value)
	if err != nil {
		return nil, false // it comes again, and tells more
	}
	page := &storage.Page{Revision: revision}
	for _, entry := range found {
		if !strings.HasPrefix(entry.Key, l.key) {
			continue
		}
		if selected, err := l.opts.Predicate.MatchesEntry(ctx, entry); err != nil {
			return nil, false
		} else if selected {
			page.Entries = append(page.Entries, entry)
		}
	}
	return page, true
}
