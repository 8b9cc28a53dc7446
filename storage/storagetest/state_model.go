package storagetest

import (
	"errors"
	"maps"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// stateModel predicts the answers of a store from its recorded states.
type stateModel struct {
	states     map[int64]map[string]listed // by revision and key
	written    map[int64]string            // the key written at a revision
	compacted  int64                       // the oldest revision that can be read
	current    int64
	versioning versioner.Versioner
}

// listed is an object in a list.
type listed struct {
	revision int64
	colour   string
}

// history makes some writes, compacts a part of them, and returns a revision that can still be
// read.
func (e *env) history() (m *stateModel, kept int64) {
	e.Helper()
	m = &stateModel{states: map[int64]map[string]listed{}, written: map[int64]string{}, versioning: e.Store.Versioner()}
	for _, name := range []string{"a", "b", "c", "d"} {
		colour := map[string]string{"a": "red", "c": "red"}[name]
		m.write(e.create(e.painted(name, "1", colour)), false, colour)
	}
	m.write(e.set("a", "2"), false, "red")
	m.compacted = m.current
	m.write(e.create(e.painted("e", "1", "red")), false, "red")
	m.write(e.create(e.kind.New("ns2", "a", "1")), false, "")
	kept = m.current
	m.write(e.delete("b"), true, "")
	m.write(e.paint("d", "red"), false, "red")
	m.write(e.paint("e", ""), false, "")
	m.write(e.set("c", "2"), false, "red")
	m.write(e.create(e.object("f", "1")), false, "")
	e.compact(m.compacted)
	return m, kept
}

// paint sets the colour of an object.
func (e *env) paint(name, colour string) *storage.Entry {
	e.Helper()
	return e.update(name, change(func(obj Object) { paint(obj, colour) }), storage.UpdateOptions{}).Entry
}

// write adds the state after a write of entry. A deletion has no colour.
func (m *stateModel) write(entry *storage.Entry, deleted bool, colour string) {
	state := maps.Clone(m.states[m.current])
	if state == nil {
		state = map[string]listed{}
	}
	if state[entry.Key] = (listed{entry.Revision, colour}); deleted {
		delete(state, entry.Key)
	}
	m.current = entry.Revision
	m.states[m.current], m.written[m.current] = state, entry.Key
}

// errorText returns the text of the sentinel that err wraps.
func errorText(err error) string {
	for _, sentinel := range []error{
		storage.ErrInvalidContinue, storage.ErrContinueWithVersion, versioner.ErrInvalidVersion, storage.ErrCompacted, storage.ErrFutureRevision,
	} {
		if errors.Is(err, sentinel) {
			return sentinel.Error()
		}
	}
	return err.Error()
}
