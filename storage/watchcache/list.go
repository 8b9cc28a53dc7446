package watchcache

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
)

// listing is one call of GetList.
type listing struct {
	*store
	key   string // "/pods/" of "/pods" where it is recursive
	opts  storage.ListOptions
	from  string // key to begin with
	asked freshness
	exact bool // at the very revision of asked
	// minimum is the revision that the answer must not be older than, once the cache has reached it.
	minimum int64
}

// GetList implements storage.Interface.
func (s *store) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	page, err := s.list(ctx, key, opts)
	s.cache.telemetry.answered(err)
	if err == errNotCached {
		if page, err = s.Interface.GetList(ctx, key, opts); err == nil {
			s.cache.raise(page.Revision)
		}
	}
	return page, err
}

// list answers from the cache, or with errNotCached.
func (s *store) list(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	l := &listing{store: s, key: key, opts: opts}
	if opts.Recursive {
		l.key = below(key)
	}
	l.from = l.key
	if err := l.plan(); err != nil {
		return nil, failed("list", l.key, 0, err)
	}
	var err error
	if l.minimum, err = s.await(ctx, "list", l.key, l.asked); err != nil {
		return nil, err
	}
	if page, ok := l.unchanged(); ok {
		return page, nil
	}
	if page, ok := l.lookUp(ctx); ok {
		return page, nil
	}
	state, revision, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	return l.page(ctx, state, revision)
}

// plan decides which revision is to be read, which is the table at
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
func (l *listing) plan() error {
	if l.opts.Recursive && l.opts.Continue != "" {
		return l.resume()
	}
	var err error
	if l.asked, err = l.parse(l.opts.ResourceVersion); err != nil {
		return err
	}
	switch l.opts.ResourceVersionMatch {
	case metav1.ResourceVersionMatchExact:
		l.exact = l.asked.minimum > 0
	case metav1.ResourceVersionMatchNotOlderThan:
	case "":
		// The legacy form: a limit makes it exact.
		l.exact = l.asked.minimum > 0 && l.opts.Recursive && l.opts.Limit > 0
	default:
		return fmt.Errorf("unknown ResourceVersionMatch value: %v", l.opts.ResourceVersionMatch)
	}
	return nil
}

// resume continues where the previous page ended.
func (l *listing) resume() error {
	from, revision, err := l.opts.Resume(l.key)
	if err != nil {
		return err
	}
	l.from = from
	l.exact = revision > 0
	l.asked = freshness{latest: !l.exact, minimum: revision}
	return nil
}

// state returns what is to be listed, and its revision.
func (l *listing) state(ctx context.Context) (*snapshot, int64, error) {
	if !l.exact {
		return l.cache.snapshot(l.resource, l.minimum)
	}
	// The window may reach back further than the storage. A revision that is
	// compacted is refused all the same: an answer that depends on how much was
	// written since would be of no use to anybody.
	if err := l.cache.cfg.Log.Retains(ctx, l.asked.minimum); err != nil {
		return nil, 0, errNotCached // the storage says what is wrong with it
	}
	state, err := l.cache.snapshotAt(l.resource, l.asked.minimum)
	return state, l.asked.minimum, err
}

func (l *listing) page(ctx context.Context, state *snapshot, revision int64) (*storage.Page, error) {
	page := &storage.Page{Revision: revision}
	if !l.opts.Recursive {
		return page, l.single(ctx, page, state.get(l.key))
	}
	var err error
	var corrupt storage.CorruptObjects
	last, more := "", false
	state.ascend(l.key, l.from, func(entry *storage.Entry) bool {
		if more = l.opts.Limit > 0 && int64(len(page.Entries)) >= l.opts.Limit; more {
			return false
		}
		last = entry.Key
		var selected bool
		if selected, err = l.opts.Predicate.MatchesEntry(ctx, entry); selected {
			page.Entries = append(page.Entries, entry)
		}
		if err != nil {
			err = corrupt.Add(err)
		}
		return err == nil
	})
	if err == nil {
		err = corrupt.Err()
	}
	if err != nil || !more {
		return page, err
	}
	if page.Continue, err = storage.EncodeContinue(last, l.key, revision); err != nil {
		return nil, failed("list", l.key, revision, err)
	}
	if l.opts.Predicate.Empty() {
		remaining := state.count(l.key, last+"\x00")
		page.Remaining = &remaining
	}
	return page, nil
}

func (l *listing) single(ctx context.Context, page *storage.Page, entry *storage.Entry) error {
	if entry == nil {
		return nil
	}
	selected, err := l.opts.Predicate.MatchesEntry(ctx, entry)
	if err != nil {
		var corrupt storage.CorruptObjects
		return cmp.Or(corrupt.Add(err), corrupt.Err())
	}
	if selected {
		page.Entries = []*storage.Entry{entry}
	}
	return nil
}
