package fault

import (
	"context"
	"time"
)

// SlowMember lets a follower of the etcd cluster run only in short slices for half a second, as if
// its machine or its disk were slow.
type SlowMember struct{}

// Tolerated implements Fault.
func (SlowMember) Tolerated() bool { return true }

// Inject implements Fault.
func (SlowMember) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	follower, err := s.follower(ctx)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); s.hold(ctx, 10*time.Millisecond) {
		if err := follower.Pause(); err != nil {
			return nil, err
		}
		s.hold(ctx, 60*time.Millisecond)
		if err := follower.Resume(); err != nil {
			return nil, err
		}
	}
	return nothing, nil
}
