package storagetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/storagetest/model"
)

func (c *writer) updated(ctx context.Context, a *attempt, result *storage.UpdateResult, err error) {
	switch {
	case err != nil:
		c.rejected(ctx, a, err, false)
	case result.Outcome == storage.Unchanged:
		c.violation(fmt.Errorf("%w: the new value %s of %s was reported as unchanged",
			model.ErrAcknowledged, a.object.Value, a.key))
	default:
		c.wrote(a, result.Entry, false)
	}
}

// wrote records an acknowledged write.
func (c *writer) wrote(a *attempt, entry *storage.Entry, deleted bool) {
	write := a.write(deleted)
	write.Revision = entry.Revision
	c.record(func(log *model.Log) { log.Writes = append(log.Writes, write) })
	c.observeRevision(entry.Revision)
	if c.known == nil {
		c.known = map[string]*storage.Entry{}
	}
	if deleted {
		delete(c.known, a.key)
	} else {
		c.known[a.key] = entry
	}
}

func (a *attempt) write(deleted bool) model.Write {
	write := model.Write{Span: a.span(), Key: a.key, Object: a.object, Deleted: deleted, Base: a.base}
	if deleted {
		write.Object = model.Object{}
	}
	return write
}

// rejected records what an error reveals about the key.
func (c *writer) rejected(ctx context.Context, a *attempt, err error, deleted bool) {
	switch {
	case errors.Is(err, storage.ErrExists):
		c.observe(model.Observation{Span: a.span(), Key: a.key, Saw: model.SawAny})
	case errors.Is(err, storage.ErrNotFound):
		c.observe(model.Observation{Span: a.span(), Key: a.key, Saw: model.SawNothing})
		delete(c.known, a.key)
	case errors.Is(err, storage.ErrUnknownOutcome):
		c.resolve(ctx, a, err, deleted)
	case errors.Is(err, storage.ErrUnavailable): // nothing was written or observed
	default:
		c.violation(fmt.Errorf("write of %s: %w", a.key, err))
	}
}

// resolve determines and records the outcome of a write whose response was lost. A write that has
// not happened is not recorded, so the history must not contain it.
func (c *writer) resolve(ctx context.Context, a *attempt, cause error, deleted bool) {
	var unknown *storage.UnknownOutcomeError
	if !errors.As(cause, &unknown) {
		c.violation(fmt.Errorf("write of %s cannot be resolved: %w", a.key, cause))
		return
	}
	for {
		revision, err := unknown.Resolve(ctx)
		if err != nil && !errors.Is(err, storage.ErrCompacted) {
			if ctx.Err() != nil {
				return
			}
			continue
		}
		write := a.write(deleted)
		write.Revision = revision
		write.Unknown = err != nil || deleted && !a.receipt // another deletion may have come first
		c.record(func(log *model.Log) {
			log.Resolved++
			if err != nil || revision > 0 {
				log.Writes = append(log.Writes, write)
			}
		})
		c.observeRevision(revision)
		return
	}
}

func (w *simulator) observe(g model.Observation) {
	w.record(func(log *model.Log) { log.Observations = append(log.Observations, g) })
}
