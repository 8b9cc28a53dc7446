package registry

import "context"

// Count returns how many objects there are, in all namespaces. It does not
// read them.
func (s *Store) Count(ctx context.Context) (int64, error) {
	key := "/" + s.resource.StoragePath + "/"
	count, err := s.storage.Count(ctx, key)
	return count, s.call("count", "", key).interpret(err)
}
