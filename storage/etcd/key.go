package etcd

import (
	"fmt"
	"strings"

	"github.com/miniapi/miniapi/storage"
)

// target is one key, or everything below one, in both its forms.
type target struct {
	key  string // as callers know it: /pods/default/web
	path string // as etcd knows it: /registry/pods/default/web
}

// target checks the key of a single object.
func (b *Backend) target(op, key string) (target, error) {
	if err := storage.CheckKey(key); err != nil {
		return target{}, refused(op, key, 0, err)
	}
	if strings.HasSuffix(key, "/") {
		return target{}, refused(op, key, 0, fmt.Errorf("invalid key: %q ends in a slash", key))
	}
	return target{key: key, path: b.cfg.Prefix + key}, nil
}

// scope checks the key of a list or a watch: with recursive it stands for
// everything below it, and the slash at its end may be left out.
func (b *Backend) scope(op, key string, recursive bool) (target, error) {
	if err := storage.CheckKey(key); err != nil {
		return target{}, refused(op, key, 0, err)
	}
	if recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	return target{key: key, path: b.cfg.Prefix + key}, nil
}

// key returns the key, as callers know it, of a path below the prefix.
func (b *Backend) key(path []byte) string {
	return string(path[len(b.cfg.Prefix):])
}
