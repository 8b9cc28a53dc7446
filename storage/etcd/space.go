package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// errClusterFull is the advice for an external etcd that has reached its quota.
var errClusterFull = errors.New("the etcd cluster has to be compacted and defragmented and its alarm disarmed " +
	"(etcdctl compact, etcdctl defrag, etcdctl alarm disarm), or given a larger --quota-backend-bytes")

// SpaceProblem returns an error with advice if a cluster refuses writes for lack of
// space, nil otherwise. It uses the first member that answers.
func SpaceProblem(ctx context.Context, client *clientv3.Client) error {
	for _, endpoint := range endpoints(client) {
		status, err := client.Status(ctx, endpoint)
		if err != nil {
			continue
		}
		for _, text := range status.Errors {
			if strings.Contains(text, etcdserverpb.AlarmType_NOSPACE.String()) {
				return fmt.Errorf("%w: %w", rpctypes.ErrNoSpace, errClusterFull)
			}
		}
		return nil
	}
	return nil
}

// unchanged reports that the key of a write still has the revision that the
// write was guarded by, so etcd has not applied it. ErrNoSpace alone is no proof:
// etcd returns it for the first writes beyond the quota, which it applies.
func (s *resourceStore) unchanged(ctx context.Context, w guardedWrite) bool {
	resp, err := s.client.Get(ctx, w.path, s.consistent(clientv3.WithKeysOnly())...)
	if err != nil {
		return false
	}
	var revision int64
	if len(resp.Kvs) > 0 {
		revision = resp.Kvs[0].ModRevision
	}
	return revision == w.revision
}

// leaseError returns the error of a write that got no lease, so nothing was
// written. A lease that etcd has granted in spite of its error expires unused.
func leaseError(w guardedWrite, err error) error {
	if isNoSpace(err) {
		return noSpaceError(w.op, w.key, err)
	}
	return readError(w.op, w.key, err)
}

// noSpaceError returns the error of a write that was refused for lack of space.
func noSpaceError(op, key string, err error) error {
	if !isUnsent(err) {
		err = fmt.Errorf("%w: %w", err, errClusterFull)
	}
	return failed(op, key, 0, storage.ErrNoSpace, err)
}

// isUnsent reports that the client of an embedded etcd has not sent a write for
// lack of space. Such an error wraps etcd's and says what to do.
func isUnsent(err error) bool {
	return isNoSpace(err) && rpctypes.Error(err) != error(rpctypes.ErrNoSpace)
}

func isNoSpace(err error) bool { return errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace) }
