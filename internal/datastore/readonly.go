package datastore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// Revisions are the revisions of a read-only etcd.
type Revisions struct {
	// Shown is the revision that all reads and watches see, 0 for the latest one.
	Shown int64
	// Oldest and Latest are the kept revisions at the start.
	Oldest, Latest int64
}

// Revisions returns the revisions of a read-only datastore.
func (d *Datastore) Revisions() Revisions { return d.revisions }

// openView replaces the client by a read-only view. A snapshot is shown at one revision even if
// none is configured, because leases of its copy expire.
func (d *Datastore) openView(ctx context.Context) error {
	d.client = etcd.View(d.etcd, 0)
	backend, err := etcd.New(etcd.Config{Client: d.client, Prefix: d.config.Prefix, LocalReads: d.embedded != nil})
	if err != nil {
		return err
	}
	if d.revisions.Oldest, d.revisions.Latest, err = backend.Revisions(ctx); err != nil {
		return fmt.Errorf("find the revisions that etcd keeps: %w", err)
	}
	shown := d.config.Revision
	switch {
	case shown > d.revisions.Latest:
		return fmt.Errorf("revision %d does not exist yet: the latest one is %d", shown, d.revisions.Latest)
	case shown > 0 && shown < d.revisions.Oldest:
		return fmt.Errorf("revision %d is compacted: revisions %d to %d can be read", shown, d.revisions.Oldest, d.revisions.Latest)
	case shown == 0 && d.embedded != nil:
		shown = d.revisions.Latest
	}
	d.revisions.Shown = shown
	d.client = etcd.View(d.etcd, shown)
	return d.requireKeys(ctx)
}

// requireKeys returns an error if there are no keys below the prefix, which is then probably not
// the prefix of the cluster.
func (d *Datastore) requireKeys(ctx context.Context) error {
	root := d.config.Prefix + "/"
	found, err := d.client.Get(ctx, root, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil || len(found.Kvs) > 0 {
		return err
	}
	first, err := d.client.Get(ctx, "/", clientv3.WithFromKey(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	if len(first.Kvs) == 0 {
		return fmt.Errorf("there are no keys below %s in etcd", root)
	}
	return fmt.Errorf("there are no keys below %s in etcd, but keys such as %s: set --etcd-prefix", root, first.Kvs[0].Key)
}

// snapshotError adds a remedy to the error of a snapshot that cannot be opened.
func snapshotError(err error) error {
	var unopened *fs.PathError
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return fmt.Errorf("%w: stop that one, or save a snapshot with etcdctl snapshot save", err)
	case errors.Is(err, embedded.ErrForeign):
		return fmt.Errorf("%w: name a file of etcdctl snapshot save, or the data directory of an etcd", err)
	case errors.Is(err, embedded.ErrCorrupt):
		return fmt.Errorf("%w: the snapshot is incomplete or was altered, use another one", err)
	case errors.As(err, &unopened):
		return fmt.Errorf("%w: name a file of etcdctl snapshot save, or the data directory of an etcd", err)
	}
	return err
}
