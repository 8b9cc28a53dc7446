package registry

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/storage"
)

// ObjectName names an object and the version of its resource in a request.
type ObjectName struct{ Namespace, Name, Version string }

// History returns the versions of an object that the storage keeps, also of deleted objects of the
// same name. It is a 404 if there are none.
func (s *Store) History(ctx context.Context, namespace, name string) (*storage.History, error) {
	key, err := s.key(namespace, name)
	if err != nil {
		return nil, err
	}
	history, err := s.storage.History(ctx, key)
	if err == nil && len(history.Versions) == 0 {
		err = storage.ErrNotFound
	}
	return history, s.call("history", name, key).interpret(err)
}

// GetExact is GetAt whose error for a compacted revision names the oldest one that can be read.
func (s *Store) GetExact(ctx context.Context, namespace, name string, revision int64) (*storage.Entry, error) {
	entry, err := s.GetAt(ctx, namespace, name, revision)
	if !apierrors.IsResourceExpired(err) {
		return entry, err
	}
	key, keyErr := s.key(namespace, name)
	history, historyErr := s.storage.History(ctx, key)
	if errors.Join(keyErr, historyErr) != nil {
		return nil, err
	}
	return nil, apierrors.NewResourceExpired(fmt.Sprintf(
		"resource version %d is compacted: the oldest resource version that can be read is %d", revision, history.Oldest))
}
