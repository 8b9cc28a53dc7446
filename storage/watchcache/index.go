package watchcache

import (
	"cmp"
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

	mu      sync.Mutex // guards what follows
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
		x.byField[field] = &index{field: field}
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
func (x *index) find(l *listing, value string) ([]*storage.Entry, int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.catchUp(l); err != nil {
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
func (x *index) catchUp(l *listing) error {
	attrs := l.opts.Predicate.Attrs
	for x.byValue != nil && x.reader.read() {
		if len(x.reader.batch) == 0 {
			return nil
		}
		for _, e := range x.reader.batch {
			if err := x.replace(e.before, e.after, attrs); err != nil {
				return err
			}
		}
	}
	// There is no index yet, or the window has gone on without it.
	state, revision, err := l.cache.snapshot(l.resource, l.minimum)
	if err != nil {
		return err
	}
	x.byValue = map[string]map[string]*storage.Entry{}
	x.reader = reader{cache: l.cache, resource: l.resource, begin: revision, upTo: revision}
	root := l.resource.root
	state.ascend(root, root, func(entry *storage.Entry) bool {
		err = x.replace(nil, entry, attrs)
		return err == nil
	})
	return err
}

func (x *index) replace(before, after *storage.Entry, attrs storage.AttrFunc) error {
	if before != nil {
		_, fields, err := before.Attributes(attrs)
		if err != nil {
			return err
		}
		value := fields.Get(x.field)
		if delete(x.byValue[value], before.Key); len(x.byValue[value]) == 0 {
			delete(x.byValue, value)
		}
	}
	if after == nil {
		return nil
	}
	_, fields, err := after.Attributes(attrs)
	if err != nil {
		return err
	}
	value := fields.Get(x.field)
	if x.byValue[value] == nil {
		x.byValue[value] = map[string]*storage.Entry{}
	}
	x.byValue[value][after.Key] = after
	return nil
}

// lookUp answers a list from an index. It is false for a list that is answered
// faster, or only, from the state.
func (l *listing) lookUp() (*storage.Page, bool) {
	field, value, ok := indexed(l.opts.Predicate)
	if !ok || !l.opts.Recursive || l.exact || l.opts.Limit > 0 || l.opts.Continue != "" {
		return nil, false
	}
	if l.cache.size(l.resource) < l.cache.cfg.IndexFrom {
		return nil, false
	}
	found, revision, err := l.resource.indexes.of(field).find(l, value)
	if err != nil {
		return nil, false // it comes again, and tells more
	}
	page := &storage.Page{Revision: revision}
	for _, entry := range found {
		if !strings.HasPrefix(entry.Key, l.key) {
			continue
		}
		if selected, err := l.opts.Predicate.MatchesEntry(entry); err != nil {
			return nil, false
		} else if selected {
			page.Entries = append(page.Entries, entry)
		}
	}
	return page, true
}
