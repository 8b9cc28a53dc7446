package verify

import (
	"math"
	"slices"

	"github.com/miniapi/miniapi/storage/storagetest/model"
	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// always is the span of a change whose time is not known.
var always = model.Span{Call: 0, Return: math.MaxInt64}

// unclaimed adds the step of a deletion with an unknown outcome that may be the change, unless
// another operation has claimed the change.
func (c *checker) unclaimed(o traffic.Operation, w model.Write, change model.Change) {
	if !slices.ContainsFunc(c.steps, func(s step) bool { return s.changes() && s.revision == change.Revision }) {
		c.steps = append(c.steps, stepOf(o, w.Deleted, w.Base, change.Revision))
	}
}

// versions checks that no two writes have the same revision.
func (c *checker) versions() {
	writes := map[int64]step{}
	for _, s := range c.steps {
		if !s.changes() {
			continue
		}
		if other, taken := writes[s.revision]; taken {
			c.fail(ErrVersions, "revision %d of %+v and of %+v", s.revision, other.Operation, s.Operation)
		}
		writes[s.revision] = s
	}
}

// removals explains the changes of the servers that delete the Widgets of a deleted definition.
func (c *checker) removals(intervals []Interval) {
	explained := map[int64]bool{}
	for _, s := range c.steps {
		explained[s.revision] = explained[s.revision] || s.changes()
	}
	for _, change := range c.history.changes {
		if explained[change.Revision] || !c.isRemoval(change, intervals) {
			continue
		}
		base := c.history.before(change.Key, change.Revision).Revision
		o := traffic.Operation{Span: always, Verb: traffic.Delete, Key: change.Key}
		c.log.Writes = append(c.log.Writes, model.Write{
			Span: always, Key: change.Key, Object: change.Object, Deleted: change.Deleted, Unknown: true,
		})
		c.steps = append(c.steps, stepOf(o, change.Deleted, base, change.Revision))
	}
}

// isRemoval reports whether a change deletes or marks a Widget while the definition is deleted.
func (c *checker) isRemoval(change model.Change, intervals []Interval) bool {
	inside := func(i Interval) bool { return i.From <= change.Revision && change.Revision <= i.To }
	before := c.history.before(change.Key, change.Revision)
	return model.Covers(traffic.Widgets+"/", change.Key) && slices.ContainsFunc(intervals, inside) &&
		(change.Deleted || traffic.ValueOf(change.Object) == traffic.ValueOf(before.Object))
}

// finalizers checks that an object with a finalizer is removed only by the update that removes the
// finalizer of an object that is being deleted.
func (c *checker) finalizers() {
	updates := map[int64]bool{}
	for _, s := range c.steps {
		updates[s.revision] = updates[s.revision] || s.kind == stepDelete && s.Verb == traffic.Update
	}
	for _, change := range c.history.changes {
		before := c.history.before(change.Key, change.Revision)
		if change.Deleted && traffic.IsFinalized(before.Object) && !updates[change.Revision] {
			c.fail(ErrFinalized, "revision %d removes %+v", change.Revision, before)
		}
	}
}

// watch checks each event of a watch with the versions before and after it.
func (c *checker) watch(w model.Watch) {
	for _, s := range w.Sessions {
		live := !s.Initial
		for _, e := range s.Events {
			switch {
			case e.Type == model.Bookmark:
				live = live || e.InitialEnd
				continue
			case !selects(w.Selection, e.Key, e.Object):
				c.fail(ErrFilterable, "watch %s %+v: %+v", w.Name, w.Selection, e)
			}
			before := c.history.before(e.Key, e.Revision)
			if live && e.Type != eventType(selects(w.Selection, e.Key, before.Object) && before.Revision > 0, c.selected(w.Selection, e.Revision)) {
				c.fail(ErrPrevKV, "watch %s %+v: %+v after %+v", w.Name, w.Selection, e, before)
			}
			if e.Type == model.Deleted && e.Object != before.Object {
				c.fail(ErrPrevKV, "watch %s %+v: %+v deletes %+v", w.Name, w.Selection, e, before)
			}
		}
	}
}

func selects(s model.Selection, key string, o model.Object) bool {
	return model.Covers(s.Scope, key) && (s.Colour == "" || s.Colour == o.Colour)
}

// selected reports whether the version that a revision has written is selected.
func (c *checker) selected(s model.Selection, revision int64) bool {
	change, ok := c.history.find(revision)
	return ok && !change.Deleted && selects(s, change.Key, change.Object)
}

func eventType(was, is bool) model.EventType {
	switch {
	case was && is:
		return model.Modified
	case is:
		return model.Added
	default:
		return model.Deleted
	}
}
