package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/storage"
)

// firstSelectivePage is the minimum number of keys in the first read of a list with a predicate,
// which may not match most of them.
const firstSelectivePage = 128

// initialPage is the number of keys in the first read of a watch. It is small, so that the first
// event is delivered soon.
const initialPage = 500

// listing reads the keys of a list in pages, all at one revision.
type listing struct {
	store *resourceStore
	op    string
	target
	recursive bool
	predicate storage.Predicate
	limit     int64 // of matching entries, 0 for none
	corrupt   storage.CorruptObjects

	fresh    storage.Freshness
	revision int64  // to read at; unless it is exact, 0 until the first page has arrived
	from     string // path of the next key
	size     pageSize
}

// GetList implements storage.Interface.
func (s *resourceStore) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	l, err := s.newListing(key, opts)
	if err != nil {
		return nil, err
	}
	page := &storage.Page{}
	for {
		resp, err := l.next(ctx)
		if err != nil {
			return nil, err
		}
		taken, err := l.take(ctx, resp, page)
		if err != nil {
			return page, err
		}
		remaining := resp.Count - int64(taken)
		if remaining > 0 && !l.full(page) {
			continue
		}
		if err := l.corrupt.Err(); err != nil {
			return page, err
		}
		return page, l.finish(page, remaining)
	}
}

// newListing returns the listing of one call of GetList.
func (s *resourceStore) newListing(key string, opts storage.ListOptions) (*listing, error) {
	t, err := s.scope("list", key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	plan, err := opts.Plan(s.versioner, t.key)
	if err != nil {
		return nil, rejected("list", key, 0, err)
	}
	l := &listing{
		store: s, op: "list", target: t, recursive: opts.Recursive, predicate: opts.Predicate, limit: opts.Limit,
		fresh: plan.Freshness, from: s.cfg.Prefix + plan.From,
	}
	if plan.Exact {
		l.revision = plan.Minimum
	}
	l.size = pageSize{l.firstPage(), s.cfg.PageSize}
	return l, nil
}

// newInitialListing returns the listing of the state that a watch begins with.
func (s *resourceStore) newInitialListing(t target, opts storage.WatchOptions, minimum int64) *listing {
	l := &listing{
		store: s, op: "watch", target: t, recursive: opts.Recursive, predicate: opts.Predicate,
		fresh: storage.Freshness{Latest: true, Minimum: minimum}, from: t.path,
	}
	l.size = pageSize{min(initialPage, s.cfg.PageSize), s.cfg.PageSize}
	return l
}

func (l *listing) firstPage() int64 {
	most := min(firstPage, l.store.cfg.PageSize)
	switch {
	case !l.predicate.Empty():
		return min(max(l.limit, firstSelectivePage), most)
	case l.limit > 0:
		return min(l.limit, most)
	default:
		return most
	}
}

// next reads a page. The Count of the response is the number of keys from the first one of the
// page to the end of the list.
func (l *listing) next(ctx context.Context) (*clientv3.GetResponse, error) {
	resp, err := l.size.fetch(ctx, l.store.kv, l.from, l.options())
	if errors.Is(err, rpctypes.ErrFutureRev) {
		return nil, l.aheadOfStore(ctx)
	}
	if err != nil {
		return nil, failed(l.op, l.key, l.revision, meaningOfRead(err), err)
	}
	if current := resp.Header.Revision; l.fresh.Minimum > current {
		return nil, tooFarAhead(l.op, l.key, l.fresh.Minimum, current)
	}
	if l.revision == 0 {
		l.revision = resp.Header.Revision
	}
	if err := memory.Grow(ctx, pageMemory(resp)); err != nil {
		return nil, err
	}
	if n := len(resp.Kvs); n > 0 {
		l.from = string(resp.Kvs[n-1].Key) + "\x00"
	} else if resp.Count > 0 {
		return nil, failed(l.op, l.key, l.revision, storage.ErrUnavailable, errors.New("etcd counts keys that it does not return"))
	}
	return resp, nil
}

func (l *listing) options() []clientv3.OpOption {
	var opts []clientv3.OpOption
	if l.recursive {
		opts = append(opts, clientv3.WithRange(clientv3.GetPrefixRangeEnd(l.path)))
	}
	if l.revision == 0 {
		return l.store.readOptions(l.fresh, opts...)
	}
	// The revision may be ahead of the memory of a lagging member.
	return l.store.consistent(append(opts, clientv3.WithRev(l.revision))...)
}

func (l *listing) aheadOfStore(ctx context.Context) error {
	current, err := l.store.CurrentRevision(ctx)
	if err != nil {
		return err
	}
	return tooFarAhead(l.op, l.key, l.revision, current)
}

// take adds the matching entries of a response to page, up to the limit, and returns the number of
// keys that it has checked.
func (l *listing) take(ctx context.Context, resp *clientv3.GetResponse, page *storage.Page) (int, error) {
	l.reserve(resp, page)
	for i, kv := range resp.Kvs {
		if l.full(page) {
			l.from = string(resp.Kvs[i-1].Key) + "\x00"
			return i, nil
		}
		entry, err := l.match(ctx, kv)
		if err != nil {
			if err := l.corrupt.Add(err); err != nil {
				return 0, err
			}
			continue
		}
		if entry != nil {
			page.Entries = append(page.Entries, entry)
		}
	}
	return len(resp.Kvs), nil
}

// match returns the entry of kv, nil if the predicate does not match it.
func (l *listing) match(ctx context.Context, kv *mvccpb.KeyValue) (*storage.Entry, error) {
	entry, err := l.store.entryOf(ctx, kv)
	if err != nil {
		return nil, err
	}
	if matches, err := l.predicate.MatchesEntry(ctx, entry); err != nil || !matches {
		return nil, err
	}
	return entry, nil
}

// reserve allocates the entries of page if their number is known.
func (l *listing) reserve(resp *clientv3.GetResponse, page *storage.Page) {
	if page.Entries != nil || !l.predicate.Empty() {
		return
	}
	count := resp.Count
	if l.limit > 0 {
		count = min(count, l.limit)
	}
	page.Entries = make([]*storage.Entry, 0, count)
}

func (l *listing) full(page *storage.Page) bool {
	return l.recursive && l.limit > 0 && int64(len(page.Entries)) >= l.limit
}

// finish sets the revision of a page and, if keys remain, its continue token.
func (l *listing) finish(page *storage.Page, remaining int64) error {
	page.Revision = l.revision
	if remaining == 0 {
		return nil
	}
	token, err := storage.EncodeContinue(l.from[:len(l.from)-1], l.path, l.revision)
	if err != nil {
		return rejected(l.op, l.key, l.revision, err)
	}
	page.Continue = token
	if l.predicate.Empty() {
		page.Remaining = &remaining
	}
	return nil
}
