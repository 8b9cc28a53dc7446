package etcd

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// decodeHook is a codec that calls a function before the first Decode.
type decodeHook struct {
	configMaps
	before func()
}

func (c *decodeHook) Decode(data []byte) (runtime.Object, error) {
	if before := c.before; before != nil {
		c.before = nil
		before()
	}
	return c.configMaps.Decode(data)
}

func TestDeleteCorruptChecksAnObjectThatIsRewrittenMeanwhile(t *testing.T) {
	s := newStore(t, Config{})
	path := s.cfg.Prefix + configMapKey(0)
	put := func(value []byte) {
		if _, err := s.client.Put(t.Context(), path, string(value)); err != nil {
			t.Fatal(err)
		}
	}
	put([]byte("\x00corrupt\xff"))
	readable, err := configMaps{}.Encode(configMap("a"))
	if err != nil {
		t.Fatal(err)
	}
	hooked := s.Store(&decodeHook{before: func() { put(readable) }})
	if _, err := hooked.Delete(t.Context(), configMapKey(0), storage.DeleteOptions{OnlyCorrupt: true}); !errors.Is(err, storage.ErrNotCorrupt) {
		t.Errorf("error is %v, want %v", err, storage.ErrNotCorrupt)
	}
	if _, err := s.Get(t.Context(), configMapKey(0), storage.GetOptions{}); err != nil {
		t.Error(err)
	}
}
