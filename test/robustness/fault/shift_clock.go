package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// ShiftClock moves the wall clock of each etcd member and each server to another time, up to eight
// hours before or after the time of the machine. Leases follow the monotonic clock: an Event does
// not expire early, and a lease does not expire late.
type ShiftClock struct{}

const (
	shortLease = 1   // TTL in seconds: expires during the fault
	longLease  = 600 // TTL in seconds: does not expire during the fault
	// leaseTolerance is for the whole seconds of etcd, and for the election after which a lease
	// begins again. It is much less than a jump.
	leaseTolerance = 5
)

// leasedKey is outside of the keys of the servers.
const leasedKey = "robustness/leased"

// Tolerated implements Fault.
func (ShiftClock) Tolerated() bool { return true }

// Inject implements Fault.
func (ShiftClock) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	event, err := createEvent(ctx, s.Traffic.Clients[0])
	if err != nil {
		return nil, err
	}
	if err := writeLeased(ctx, s); err != nil {
		return nil, err
	}
	long, granted, err := grantLong(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, m := range s.Members {
		if err := m.ShiftClock(ctx, s.shift()); err != nil {
			return nil, err
		}
	}
	for _, server := range s.Servers {
		if err := server.ShiftClock(ctx, s.shift()); err != nil {
			return nil, err
		}
	}
	if err := checkLong(ctx, s, long, granted); err != nil {
		return nil, err
	}
	if err := leasedExpired(ctx, s); err != nil {
		return nil, err
	}
	return nothing, remains(ctx, s, event.Name)
}

// shift returns an offset of minutes or of hours.
func (s *Site) shift() time.Duration {
	longest := 10 * time.Minute
	if s.Random.IntN(2) == 0 {
		longest = 8 * time.Hour
	}
	return time.Duration(s.Random.Int64N(int64(2*longest))) - longest
}

// grantLong grants a long lease, at the returned time or later.
func grantLong(ctx context.Context, s *Site) (id clientv3.LeaseID, granted time.Time, err error) {
	err = traffic.Retry(ctx, func() error {
		granted = time.Now()
		resp, err := s.Etcd.Grant(ctx, longLease)
		if err == nil {
			id = resp.ID
		}
		return err
	})
	return id, granted, err
}

// checkLong returns an error if the rest of a long lease is not its time to live minus the time
// that has passed.
func checkLong(ctx context.Context, s *Site, id clientv3.LeaseID, granted time.Time) error {
	var wrong error
	err := traffic.Retry(ctx, func() error {
		resp, err := s.Etcd.TimeToLive(ctx, id)
		if err != nil {
			return err
		}
		passed := time.Since(granted)
		if resp.TTL < longLease-int64(passed.Seconds())-leaseTolerance || resp.TTL > longLease+leaseTolerance {
			wrong = fmt.Errorf("%d s are left of a lease of %d s, at most %v after it was granted", resp.TTL, longLease, passed)
		}
		return nil
	})
	return errors.Join(err, wrong)
}

// writeLeased writes a key with a short lease.
func writeLeased(ctx context.Context, s *Site) error {
	return traffic.Retry(ctx, func() error {
		granted, err := s.Etcd.Grant(ctx, shortLease)
		if err != nil {
			return err
		}
		_, err = s.Etcd.Put(ctx, leasedKey, "", clientv3.WithLease(granted.ID))
		return err
	})
}

// leasedExpired waits until the key with the short lease is gone.
func leasedExpired(ctx context.Context, s *Site) error {
	return traffic.Retry(ctx, func() error {
		resp, err := s.Etcd.Get(ctx, leasedKey)
		if err == nil && resp.Count > 0 {
			err = fmt.Errorf("the lease of %d s has not expired", shortLease)
		}
		return err
	})
}

// remains returns an error if an Event is gone at a server long before its time to live has passed.
func remains(ctx context.Context, s *Site, name string) error {
	var missing error
	for _, clients := range s.Traffic.Clients {
		err := traffic.Retry(ctx, func() error {
			_, err := clients.Typed.CoreV1().Events(traffic.Namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				missing = fmt.Errorf("an Event has expired early: %w", err)
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return missing
}
