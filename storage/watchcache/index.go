package watchcache

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/selection"

	"github.com/miniapi/miniapi/storage"
)

// maxIndexes is the number of indexes of a resource. A client can select by any label, so their
// number must be limited.
const maxIndexes = 8

// indexes are the indexes of a resource. An index is created by the first list that selects by its
// attribute. Lists update the indexes that they use, so writes cost nothing.
type indexes struct {
	mu     sync.Mutex // guards recent
	recent []*index   // the most recently used one first
}

// attribute is a label or a field.
type attribute struct {
	label bool
	name  string
}

// of returns the value of the attribute, "" if the object does not have it.
func (a attribute) of(ctx context.Context, entry *storage.Entry, attrs storage.AttrFunc) (string, error) {
	labelSet, fieldSet, err := entry.Attributes(ctx, attrs)
	if a.label {
		return labelSet[a.name], err
	}
	return fieldSet[a.name], err
}

// index maps the values of an attribute to entries of a resource. Entries without a value are not
// in the index.
type index struct {
	attribute attribute

	// lock is held by the reader that uses the index, also while it updates the index. It is a
	// channel, not a mutex, so that waiting readers can return when their contexts end. It guards
	// the fields below.
	lock    chan struct{}
	reader  reader
	byValue map[string]*tree
}

// forAttribute returns the index of an attribute. It replaces the least recently used index if
// there are too many.
func (x *indexes) forAttribute(a attribute) *index {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.recent, func(found *index) bool { return found.attribute == a })
	if i < 0 {
		i = min(len(x.recent), maxIndexes-1)
		x.recent = append(x.recent[:i], &index{attribute: a, lock: make(chan struct{}, 1)})
	}
	used := x.recent[i]
	copy(x.recent[1:], x.recent[:i])
	x.recent[0] = used
	return used
}

// selectedAttribute returns a field or a label that a predicate requires to have one value, and
// this value. Fields come first, because they select fewer objects.
func selectedAttribute(p storage.Predicate) (a attribute, value string, ok bool) {
	if field, value, ok := selectedField(p); ok {
		return attribute{name: field}, value, true
	}
	if p.Label == nil {
		return attribute{}, "", false
	}
	requirements, _ := p.Label.Requirements()
	for _, r := range requirements {
		if values := r.ValuesUnsorted(); len(values) == 1 && values[0] != "" && isPositive(r.Operator()) {
			return attribute{label: true, name: r.Key()}, values[0], true
		}
	}
	return attribute{}, "", false
}

// isPositive reports whether a requirement demands one of its values.
func isPositive(o selection.Operator) bool {
	return o == selection.Equals || o == selection.DoubleEquals || o == selection.In
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

// find returns the entries that have a value, and the revision of this result.
func (x *index) find(ctx context.Context, l *listing, value string) (*snapshot, int64, error) {
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
	found := x.byValue[value]
	if found == nil {
		found = newTree()
	}
	return found.snapshot(), x.reader.upTo, nil
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
	x.byValue = map[string]*tree{}
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
		value, err := x.attribute.of(ctx, e.before, attrs)
		if err != nil {
			return err
		}
		if having := x.byValue[value]; having != nil {
			having.remove(e.key)
			if having.entries.Len() == 0 {
				delete(x.byValue, value)
			}
		}
	}
	if e.after == nil {
		return nil
	}
	return x.add(ctx, attrs, e.after)
}

func (x *index) add(ctx context.Context, attrs storage.AttrFunc, entry *storage.Entry) error {
	value, err := x.attribute.of(ctx, entry, attrs)
	if err != nil || value == "" {
		return err
	}
	if x.byValue[value] == nil {
		x.byValue[value] = newTree()
	}
	x.byValue[value].set(entry)
	return nil
}

// indexed returns the entries that can match the predicate, from an index. It returns false if the
// list must be answered from the state, or is answered faster from it.
func (l *listing) indexed(ctx context.Context) (*snapshot, int64, bool) {
	a, value, ok := selectedAttribute(l.opts.Predicate)
	if !ok || !l.opts.Recursive || l.plan.Exact || l.opts.Limit > 0 || l.opts.Continue != "" {
		return nil, 0, false
	}
	if l.cache.size(l.resource) < l.cache.cfg.IndexFrom {
		return nil, 0, false
	}
	found, revision, err := l.resource.indexes.forAttribute(a).find(ctx, l, value)
	return found, revision, err == nil // the list from the state returns the error
}
