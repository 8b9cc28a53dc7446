package writes

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/fields"
	"github.com/miniapi/miniapi/testapi/journal"
)

// mayLose reports whether a write can undo the change of another client by mistake: it is an update
// or a patch without a resourceVersion, so the server cannot check the version it is based on. A
// server-side apply names the fields that it takes over.
func mayLose(w *journal.Write) bool {
	return w.Outcome == storage.Updated && w.ResourceVersion == "" && slices.Contains([]string{"update", "patch"}, w.Verb)
}

// lost returns the changes that the write of version i has undone: the last change of a field is of
// another client, and the write gives the field a value that it had before that change.
func (o *object) lost(w *journal.Write, i int) []Change {
	if i == 0 {
		return nil
	}
	before, _, ok := o.content(i - 1)
	after, content, readable := o.content(i)
	if !ok || !readable {
		return nil
	}
	set, err := o.Store.ChangedFields(o.version(), before, after)
	if err != nil {
		return nil
	}
	var list []Change
	for path := range set.All() {
		value, _ := fields.Lookup(content, path)
		last, earlier := o.values(i-1, path)
		if !slices.ContainsFunc(earlier, func(v any) bool { return reflect.DeepEqual(v, value) }) {
			continue
		}
		writer := o.writers[o.versions[last].Revision]
		if writer == nil || sameClient(writer, w) {
			continue
		}
		list = append(list, Change{Field: path.String(), Revision: writer.Revision, By: clientOf(writer)})
	}
	return list
}

// sameClient reports whether two writes are of the same program of the same user.
func sameClient(a, b *journal.Write) bool { return a.User == b.User && a.UserAgent == b.UserAgent }

// values returns the version of the last change of a field up to version i, and the values of the
// field in the versions before. There are none if the field has not changed since the creation of
// the object, or since its oldest known version.
func (o *object) values(i int, path fieldpath.Path) (last int, earlier []any) {
	_, content, _ := o.content(i)
	present, _ := fields.Lookup(content, path)
	for i--; i >= 0; i-- {
		_, content, ok := o.content(i)
		if !ok { // deleted
			break
		}
		value, _ := fields.Lookup(content, path)
		if earlier == nil && reflect.DeepEqual(value, present) {
			continue
		}
		if earlier == nil {
			last = i + 1
		}
		earlier = append(earlier, value)
	}
	return last, earlier
}
