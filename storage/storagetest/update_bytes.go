package storagetest

import (
	"bytes"

	"github.com/miniapi/miniapi/storage"
)

// updateBytesRules are about stored bytes that decode to an object but differ from the encoding of
// the codec. Storage migration relies on unchanged updates to replace them.
func updateBytesRules() []rule {
	return []rule{
		{"an unchanged update replaces non-canonical bytes", bytesReplaced},
		{"an unchanged update replaces non-canonical bytes despite a suggestion", bytesReplacedDespiteSuggestion},
		{"a suggestion without stored bytes is ignored", bytesMissing},
	}
}

// recode returns other bytes of the same object.
func recode(data []byte) []byte {
	if bytes.HasPrefix(data, []byte("k8s\x00")) {
		return append(bytes.Clone(data), 0x7a, 0) // an empty unknown field 15
	}
	return append(bytes.Clone(data), ' ')
}

// recoded stores an object in bytes that are not canonical.
func (e *env) recoded(name, value string) (canonical []byte, revision int64) {
	e.Helper()
	canonical, err := e.kind.Codec.Encode(e.object(name, value))
	if err != nil {
		e.Fatal(err)
	}
	data, err := e.atRest(e.Context(), e.key(name), recode(canonical))
	if err != nil {
		e.Fatal(err)
	}
	if revision, err = e.putRaw(e.Context(), e.key(name), data); err != nil {
		e.Fatal(err)
	}
	e.wantEntry(e.get(name), name, revision, value)
	return canonical, revision
}

// wantReplaced makes two unchanged updates: only the first one writes.
func (e *env) wantReplaced(name string, canonical []byte, revision int64, opts storage.UpdateOptions) {
	e.Helper()
	same := change(func(Object) {})
	first := e.update(name, same, opts)
	if first.Outcome != storage.Updated || first.Entry.Revision <= revision {
		e.Errorf("outcome %v at revision %d, want a write after %d", first.Outcome, first.Entry.Revision, revision)
	}
	kv, err := e.raw(e.Context(), e.key(name))
	if err != nil {
		e.Fatal(err)
	}
	if data, err := e.plain(e.Context(), kv); err != nil || !bytes.Equal(data, canonical) {
		e.Errorf("stored is %q (%v), want %q", data, err, canonical)
	}
	second := e.update(name, same, storage.UpdateOptions{})
	if second.Outcome != storage.Unchanged || second.Entry.Revision != first.Entry.Revision {
		e.Errorf("outcome %v at revision %d, want none after %d", second.Outcome, second.Entry.Revision, first.Entry.Revision)
	}
}

func bytesReplaced(e *env) {
	canonical, revision := e.recoded("a", "1")
	e.wantReplaced("a", canonical, revision, storage.UpdateOptions{})
}

func bytesReplacedDespiteSuggestion(e *env) {
	canonical, revision := e.recoded("a", "1")
	decoder := storage.NewDecoder(e.kind.Codec, e.Store.Versioner())
	e.wantReplaced("a", canonical, revision, storage.UpdateOptions{
		Suggestion: decoder.Entry(e.key("a"), revision, canonical),
	})
}

func bytesMissing(e *env) {
	canonical, revision := e.recoded("a", "1")
	e.wantReplaced("a", canonical, revision, storage.UpdateOptions{
		Suggestion: storage.NewEntry(e.key("a"), revision, e.get("a").Object),
	})
}
