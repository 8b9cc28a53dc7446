package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// GetAt returns an object as it was at a revision. It is a 404 if the object did not exist then,
// and a 410 if the revision is compacted.
func (s *Store) GetAt(ctx context.Context, namespace, name string, revision int64) (*storage.Entry, error) {
	key, err := s.key(namespace, name)
	if err != nil {
		return nil, err
	}
	page, err := s.storage.GetList(ctx, key, storage.ListOptions{
		ResourceVersion: versioner.Format(revision), ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	if err == nil && len(page.Entries) == 0 {
		err = storage.ErrNotFound
	}
	if err != nil {
		failed := s.call("get", name, key)
		failed.exactObject = true
		return nil, failed.interpret(err)
	}
	return page.Entries[0], nil
}
