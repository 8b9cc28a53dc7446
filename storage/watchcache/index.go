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

// indexes are the indexes of a resource, by field. An index is created by the first list that
// selects by its field. Lists update the indexes that they use, so writes cost nothing.
type indexes struct {
	mu      sync.Mutex // guards byField
	byField map[string]*index
}

// index maps the values of a field to entries of a resource.
type index struct {
	field string

	// lock is held by the reader that uses the index, also while it updates the index. It is a
	// channel, not a mutex, so that waiting readers can return when their contexts end. It guards
	// the fields below.
	lock    chan struct{}
	reader  reader
	byValue map[string]map[string]*storage.Entry // by value of the field and key
}

func (x *indexes) forField(field string) *index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byField[field] == nil {
		if x.byField == nil {
			x.byField = map[string]*index{}
		}
		x.byField[field] = &index{field: field, lock: make(chan struct{}, 1)}
	}
	return x.byField[field]
}

// selectedField returns a field that a predicate requires to have one value.
func selectedField(p storage.Predicate) (field, value string, ok bool) {
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

// find returns the entries whose field has a value, ordered by key, and the revision of this
// result.
func (x *index) find(ctx context.Context, l *listing, value string) ([]*storage.Entry, int64, error) {
	select {
	case x.lock <- struct{}{}:
		defer func() { <-x.lock }()
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

// catchUp applies the events since the last call, or reads the whole state.
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
	// There is no index yet, or it has fallen behind the window.
	state, revision, err := l.cache.snapshot(l.resource, l.minimum)
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

// replace applies an event to the index.
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

// listFromIndex answers a list from an index. It returns false if the list must be answered from
// the state, or is answered faster from it.
func (l *listing) listFromIndex(ctx context.Context) (*storage.Page, bool) {
	field, value, ok := selectedField(l.opts.Predicate)
	if !ok || !l.opts.Recursive || l.plan.Exact || l.opts.Limit > 0 || l.opts.Continue != "" {
		return nil, false
	}
	if l.cache.size(l.resource) < l.cache.cfg.IndexFrom {
		return nil, false
	}
	found, revision, err := l.resource.indexes.forField(field).find(ctx, l, value)
	if err != nil {
		return nil, false // the list from the state returns the error
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
