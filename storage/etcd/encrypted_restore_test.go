package etcd

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// sealing is a transformer that writes values with a prefix and reads no other ones.
type sealing string

func (s sealing) ToStorage(_ context.Context, data []byte, _ string) ([]byte, error) {
	return append([]byte(s), data...), nil
}

func (s sealing) FromStorage(_ context.Context, data []byte, _ string) ([]byte, bool, error) {
	data, ok := bytes.CutPrefix(data, []byte(s))
	if !ok {
		return nil, false, errors.New("written by another transformer")
	}
	return data, false, nil
}

// A snapshot is independent of the transformer of its store. Values that the transformer cannot
// read keep their stored bytes.
func TestRestoreWithAnotherTransformer(t *testing.T) {
	origin := newStore(t, Config{Transformer: sealing("old:")})
	create(t, origin, 1)
	if _, err := origin.client.Put(t.Context(), "/registry"+configMapKey(2), "unreadable"); err != nil {
		t.Fatal(err)
	}
	snapshot, err := origin.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	copied := newStore(t, Config{Transformer: sealing("new:")})
	if _, err := copied.Restore(t.Context(), snapshot, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, prefix := range map[int]string{1: "new:", 2: "unreadable"} {
		resp, err := copied.client.Get(t.Context(), "/registry"+configMapKey(i))
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Kvs) != 1 || !bytes.HasPrefix(resp.Kvs[0].Value, []byte(prefix)) {
			t.Errorf("value %d is stored as %v", i, resp.Kvs)
		}
	}
	before, err := origin.CurrentRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := origin.Restore(t.Context(), snapshot, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if after, err := origin.CurrentRevision(t.Context()); err != nil || after != before {
		t.Errorf("a restore of the present state has written revision %d after %d, error %v", after, before, err)
	}
}
