package etcd

import (
	"fmt"
	"strings"

	"github.com/miniapi/miniapi/storage"
)

// target is one key, or all keys below a key.
type target struct {
	key  string // for callers: /pods/default/web
	path string // in etcd: /registry/pods/default/web
}

// target returns the target of the key of one object.
func (b *Backend) target(op, key string) (target, error) {
	if err := storage.CheckKey(key); err != nil {
		return target{}, rejected(op, key, 0, err)
	}
	if strings.HasSuffix(key, "/") {
		return target{}, rejected(op, key, 0, fmt.Errorf("invalid key: %q ends in a slash", key))
	}
	return target{key: key, path: b.cfg.Prefix + key}, nil
}

// scope returns the target of a list or a watch. With recursive it stands for all keys below key,
// which may omit the slash at its end.
func (b *Backend) scope(op, key string, recursive bool) (target, error) {
	if err := storage.CheckKey(key); err != nil {
		return target{}, rejected(op, key, 0, err)
	}
	if recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	return target{key: key, path: b.cfg.Prefix + key}, nil
}

// key returns the key of a path in etcd.
func (b *Backend) key(path []byte) string {
	return string(path[len(b.cfg.Prefix):])
}

// root returns the prefix of the keys of all resources. Reads that only need the revision of etcd
// read it as a key, because a user of etcd may have no other permission than for this prefix.
func (b *Backend) root() string { return b.cfg.Prefix + "/" }
