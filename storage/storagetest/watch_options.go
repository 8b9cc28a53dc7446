package storagetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

func watchOptionRules() []rule {
	return []rule{
		{"every combination of options is answered as the model predicts", watchOptions},
	}
}

// watchForm is one combination of watch options.
type watchForm struct {
	key    string
	colour string // of the predicate, "" for none
	opts   storage.WatchOptions
}

// watchOptions starts all watches, writes, and compares the events up to the last write, which
// every watch sends unless it fails.
func watchOptions(e *env) {
	m, kept := e.history()
	begun := m.current
	forms := e.watchForms(m, kept)
	watchers := make([]storage.Watcher, len(forms))
	failures := make([]error, len(forms))
	for i, form := range forms {
		if watchers[i], failures[i] = e.Store.Watch(e.Context(), form.key, form.opts); failures[i] == nil {
			e.Cleanup(watchers[i].Stop)
		}
	}
	m.write(e.create(e.painted("g", "1", "red")), false, "red")
	m.write(e.set("a", "3"), false, "red")
	m.write(e.set("c", "3"), false, "red")
	for i, form := range forms {
		e.sub(form.String(), func(e *env) {
			got := []string{}
			if failures[i] != nil {
				got = append(got, errorText(failures[i]))
			} else {
				got = (&stream{env: e, watcher: watchers[i]}).upTo(m.current)
			}
			if diff := cmp.Diff(m.events(form, begun), got); diff != "" {
				e.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// upTo returns the events up to a revision, or up to an error.
func (s *stream) upTo(revision int64) []string {
	s.Helper()
	for events := []string{}; ; {
		event := s.next()
		events = append(events, shortEvent(event))
		if event.Err != nil || event.Revision == revision {
			return events
		}
	}
}

func (f watchForm) String() string {
	send := "unset"
	if f.opts.SendInitialEvents != nil {
		send = fmt.Sprint(*f.opts.SendInitialEvents)
	}
	return fmt.Sprintf("%s colour %q resourceVersion %q sendInitialEvents %s", f.key, f.colour, f.opts.ResourceVersion, send)
}

func shortEvent(event storage.Event) string {
	switch {
	case event.Err != nil:
		return errorText(event.Err)
	case event.Entry == nil:
		return fmt.Sprintf("%s@%d", event.Type, event.Revision)
	}
	return fmt.Sprintf("%s %s@%d", event.Type, event.Entry.Key, event.Revision)
}

// watchForms returns all combinations of watch options.
func (e *env) watchForms(m *stateModel, kept int64) []watchForm {
	yes, no := true, false
	var forms []watchForm
	for _, scope := range []watchForm{
		{key: e.below(namespace), opts: storage.WatchOptions{Recursive: true}},
		{key: e.below(""), opts: storage.WatchOptions{Recursive: true}},
		{key: e.key("c")},
	} {
		for _, asked := range []string{"", "0", "abc", version(m.compacted - 2), version(kept), version(m.current), version(m.current + 2)} {
			for _, send := range []*bool{nil, &yes, &no} {
				for _, colour := range []string{"", "red"} {
					form := scope
					form.opts.ResourceVersion, form.opts.SendInitialEvents = asked, send
					if form.colour = colour; colour != "" {
						form.opts.Predicate = e.kind.Coloured(colour)
					}
					forms = append(forms, form)
				}
			}
		}
	}
	return forms
}

// events returns the expected events of a watch that started at revision begun, or the text of the
// expected error.
func (m *stateModel) events(form watchForm, begun int64) []string {
	from, err := m.versioning.ParseResourceVersion(form.opts.ResourceVersion)
	send := form.opts.SendInitialEvents
	initial := send != nil && *send || send == nil && from == 0
	var events []string
	switch {
	case err != nil:
		return []string{errorText(err)}
	case initial && from > begun:
		return []string{storage.ErrFutureRevision.Error()}
	case initial:
		for _, key := range slices.Sorted(maps.Keys(m.states[begun])) {
			if entry, ok := m.selected(form, begun, key); ok {
				events = append(events, fmt.Sprintf("%s %s@%d", watch.Added, key, entry.revision))
			}
		}
		events = append(events, fmt.Sprintf("%s@%d", watch.Bookmark, begun))
		from = begun
	case from == 0:
		from = begun
	case from+1 < m.compacted:
		return []string{storage.ErrCompacted.Error()}
	}
	return append(events, m.changes(form, from)...)
}

// changes returns the events after a revision.
func (m *stateModel) changes(form watchForm, after int64) []string {
	var events []string
	previous := int64(0)
	for _, revision := range slices.Sorted(maps.Keys(m.states)) {
		key := m.written[revision]
		was, wasSelected := m.selected(form, previous, key)
		is, isSelected := m.selected(form, revision, key)
		previous = revision
		if revision <= after || was == is {
			continue
		}
		eventType := watch.Modified
		switch {
		case !wasSelected:
			eventType = watch.Added
		case !isSelected:
			eventType = watch.Deleted
		}
		events = append(events, fmt.Sprintf("%s %s@%d", eventType, key, revision))
	}
	return events
}

// selected returns the entry of key at a revision if the watch selects it.
func (m *stateModel) selected(form watchForm, revision int64, key string) (listed, bool) {
	entry, ok := m.states[revision][key]
	inside := key == form.key || form.opts.Recursive && strings.HasPrefix(key, form.key)
	if !ok || !inside || form.colour != "" && form.colour != entry.colour {
		return listed{}, false
	}
	return entry, true
}
