package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// filling is the prefix of the keys that fill the database, past the servers.
const filling = "/robustness-filling/"

// FillQuota fills the database of etcd up to its quota for up to half a second.
type FillQuota struct{}

// Tolerated implements Fault.
func (FillQuota) Tolerated() bool { return false }

// Inject implements Fault.
func (FillQuota) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	for {
		err := fill(ctx, s)
		if errors.Is(err, rpctypes.ErrNoSpace) {
			break
		}
		if ctx.Err() != nil { // otherwise etcd has answered late
			return nil, fmt.Errorf("fill the database up to its quota: %w", err)
		}
	}
	s.hold(ctx, 500*time.Millisecond)
	return func(ctx context.Context) error { return empty(ctx, s) }, nil
}

// fill writes large values until etcd rejects or does not answer one. It returns the error.
func fill(ctx context.Context, s *Site) error {
	for n := 0; ; n++ {
		attempt, cancel := context.WithTimeout(ctx, 3*time.Second)
		_, err := s.Etcd.Put(attempt, fmt.Sprint(filling, n), string(bytes.Repeat([]byte("filling "), 128<<10)))
		cancel()
		if err != nil {
			return err
		}
	}
}

// empty removes the large values and makes their space usable, as an administrator does. ctx limits
// it, since etcd may still be starting after the disk was full.
func empty(ctx context.Context, s *Site) error {
	return traffic.Retry(ctx, func() error { return s.tryEmpty(ctx) })
}

func (s *Site) tryEmpty(ctx context.Context) error {
	resp, err := s.Etcd.Delete(ctx, filling, clientv3.WithPrefix())
	if err != nil {
		return fmt.Errorf("delete the large values: %w", err)
	}
	for s.Observer.Observed() < resp.Header.Revision && ctx.Err() == nil {
		s.hold(ctx, 20*time.Millisecond)
	}
	if _, err := s.Etcd.Compact(ctx, resp.Header.Revision, clientv3.WithCompactPhysical()); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact: %w", err)
	}
	for _, endpoint := range s.Etcd.Endpoints() {
		if _, err := s.Etcd.Defragment(ctx, endpoint); err != nil {
			return fmt.Errorf("defragment: %w", err)
		}
	}
	if _, err := s.Etcd.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
		return fmt.Errorf("disarm the alarm: %w", err)
	}
	return nil
}
