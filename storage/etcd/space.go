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

// ErrFull is the error of an etcd that rejects writes because it has no space.
var ErrFull = fmt.Errorf("%w: %w", rpctypes.ErrNoSpace, errClusterFull)

// errClusterFull has the instructions for an external etcd that has reached its quota.
var errClusterFull = errors.New("the etcd cluster has to be compacted and defragmented and its alarm disarmed " +
	"(etcdctl compact, etcdctl defrag, etcdctl alarm disarm), or given a larger --quota-backend-bytes")

// SpaceProblem returns an error with instructions if a cluster rejects writes because it has no
// space, and otherwise nil. It uses the first member that answers.
func SpaceProblem(ctx context.Context, client *clientv3.Client) error {
	var problem error
	readStatuses(ctx, client, func(_ int, status *clientv3.StatusResponse) bool {
		for _, text := range status.Errors {
			if strings.Contains(text, etcdserverpb.AlarmType_NOSPACE.String()) {
				problem = ErrFull
			}
		}
		return true // all members have the alarms of the cluster
	})
	return problem
}

// unchanged reports whether the key of a write still has the revision that guards the write, so
// that etcd has not applied it. ErrNoSpace does not prove that: etcd also returns it for the first
// writes beyond the quota, which it applies.
func (s *resourceStore) unchanged(ctx context.Context, w guardedWrite) bool {
	resp, err := s.kv.Get(ctx, w.path, s.consistent(clientv3.WithKeysOnly())...)
	if err != nil {
		return false
	}
	var revision int64
	if len(resp.Kvs) > 0 {
		revision = resp.Kvs[0].ModRevision
	}
	return revision == w.revision
}

// leaseError returns the error of a write whose lease was not granted, so that nothing was
// written. If etcd has granted the lease in spite of the error, the lease expires unused.
func leaseError(w guardedWrite, err error) error {
	if isNoSpace(err) {
		return noSpaceError(w.op, w.key, err)
	}
	return readError(w.op, w.key, err)
}

// noSpaceError returns the error of a write that was rejected because etcd has no space.
func noSpaceError(op, key string, err error) error {
	if !isUnsent(err) {
		err = fmt.Errorf("%w: %w", err, errClusterFull)
	}
	return failed(op, key, 0, storage.ErrNoSpace, err)
}

// isUnsent reports whether the client of an embedded etcd has not sent a write because there is no
// space. Such an error wraps the one of etcd and has instructions.
func isUnsent(err error) bool {
	return isNoSpace(err) && rpctypes.Error(err) != error(rpctypes.ErrNoSpace)
}

func isNoSpace(err error) bool { return errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace) }
