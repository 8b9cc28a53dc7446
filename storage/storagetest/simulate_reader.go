package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// reader makes all kinds of gets and lists.
type reader struct {
	*simulator
	random *rand.Rand
}

func (c *reader) run(ctx context.Context) {
	actions := []func(context.Context){
		c.get, c.get, c.getAny,
		c.list, c.list, c.listAny, c.listNotOlder, c.listExact, c.listPages, c.listPages,
	}
	for range c.turns {
		pick(c.random, actions)(ctx)
	}
}

func (c *reader) get(ctx context.Context)    { c.getWith(ctx, "") }
func (c *reader) getAny(ctx context.Context) { c.getWith(ctx, "0") }

func (c *reader) getWith(ctx context.Context, resourceVersion string) {
	g := model.Observation{
		Key: c.kind.Key(pick(c.random, c.namespaces()), pick(c.random, c.names())),
		Saw: model.SawNothing, Any: resourceVersion == "0",
	}
	span := c.span()
	entry, err := c.Store.Get(ctx, g.Key, storage.GetOptions{ResourceVersion: resourceVersion})
	g.Span = span()
	switch {
	case err == nil:
		g.Saw, g.Revision = model.SawVersion, entry.Revision
		c.observeRevision(entry.Revision)
	case errors.Is(err, storage.ErrUnavailable):
		return
	case !errors.Is(err, storage.ErrNotFound):
		c.violation(fmt.Errorf("get %s: %w", g.Key, err))
		return
	}
	c.observe(g)
}

func (c *reader) list(ctx context.Context) { c.listWith(ctx, storage.ListOptions{}) }

func (c *reader) listAny(ctx context.Context) {
	c.listWith(ctx, storage.ListOptions{ResourceVersion: "0", Limit: int64(c.random.IntN(3))})
}

func (c *reader) listNotOlder(ctx context.Context) {
	c.listWith(ctx, storage.ListOptions{
		ResourceVersion:      version(c.past(c.random)),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
}

func (c *reader) listExact(ctx context.Context) {
	c.listWith(ctx, storage.ListOptions{
		ResourceVersion:      version(c.past(c.random)),
		ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
}

func (c *reader) listPages(ctx context.Context) {
	c.listWith(ctx, storage.ListOptions{Limit: 1 + c.random.Int64N(3)})
}

// listWith lists all pages of a random selection.
func (c *reader) listWith(ctx context.Context, opts storage.ListOptions) {
	l := model.List{Selection: c.selection(c.random), Any: opts.ResourceVersion != ""}
	opts.Recursive = l.Scope[len(l.Scope)-1] == '/'
	if l.Colour != "" {
		opts.Predicate = c.coloured(c.random, l.Colour)
	}
	asked := opts
	span := c.span()
	for {
		page, err := c.Store.GetList(ctx, l.Scope, opts)
		if err != nil {
			c.listRejected(l, asked, err)
			return
		}
		if err := c.page(&l, asked, page); err != nil {
			c.violation(fmt.Errorf("%w: %+v %+v: %w", model.ErrSnapshot, l.Selection, asked, err))
			return
		}
		if page.Continue == "" {
			break
		}
		opts.Continue, opts.ResourceVersion, opts.ResourceVersionMatch = page.Continue, "", ""
	}
	l.Span = span()
	c.observeRevision(l.Revision)
	c.record(func(log *model.Log) { log.Lists = append(log.Lists, l) })
}

// selection returns a random selection for a list or a watch.
func (w *simulator) selection(random *rand.Rand) model.Selection {
	return model.Selection{Scope: pick(random, w.scopes()), Colour: pick(random, []string{"", "", "red"})}
}

// coloured selects the objects of a colour by a label or a field.
func (w *simulator) coloured(random *rand.Rand, colour string) storage.Predicate {
	return pick(random, []func(string) storage.Predicate{w.kind.Coloured, w.kind.ColouredByField})(colour)
}

// page adds a page to the list.
func (c *reader) page(l *model.List, asked storage.ListOptions, page *storage.Page) error {
	if l.Revision != 0 && page.Revision != l.Revision {
		return fmt.Errorf("a page of revision %d follows a page of revision %d", page.Revision, l.Revision)
	}
	l.Revision = page.Revision
	if asked.Limit > 0 && int64(len(page.Entries)) > asked.Limit {
		return fmt.Errorf("%d entries on a page of %d", len(page.Entries), asked.Limit)
	}
	for _, entry := range page.Entries {
		obj, err := entry.Object()
		if err != nil {
			return err
		}
		l.Versions = append(l.Versions, model.Version{Key: entry.Key, Revision: entry.Revision, Object: modelObject(obj.(Object))})
	}
	return c.checkRevision(l, asked)
}

// checkRevision checks that a list has the requested revision.
func (c *reader) checkRevision(l *model.List, asked storage.ListOptions) error {
	if asked.ResourceVersionMatch == "" {
		return nil
	}
	revision, err := c.Store.Versioner().ParseResourceVersion(asked.ResourceVersion)
	if err != nil {
		return err
	}
	exact := asked.ResourceVersionMatch == metav1.ResourceVersionMatchExact
	if exact && l.Revision != revision || l.Revision < revision {
		return fmt.Errorf("revision %d instead of %s %d", l.Revision, asked.ResourceVersionMatch, revision)
	}
	return nil
}

// listRejected checks that a list was rejected for a valid reason.
func (c *reader) listRejected(l model.List, asked storage.ListOptions, err error) {
	switch {
	case errors.Is(err, storage.ErrUnavailable):
	case errors.Is(err, storage.ErrCompacted) && l.Revision != 0:
		c.checkCompacted(l.Revision, err)
	case errors.Is(err, storage.ErrCompacted) && asked.ResourceVersionMatch == metav1.ResourceVersionMatchExact:
		if revision, parseErr := c.Store.Versioner().ParseResourceVersion(asked.ResourceVersion); parseErr == nil {
			c.checkCompacted(revision, err)
		}
	case errors.Is(err, storage.ErrCompacted):
		// The revision was compacted between two of its pages.
	default:
		c.violation(fmt.Errorf("list %+v %+v: %w", l.Selection, asked, err))
	}
}
