package heartbeat

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestIsExpired(t *testing.T) {
	now := time.Unix(1700000000, 0)
	cases := map[string]struct {
		renewed *metav1.MicroTime
		seconds *int32
		want    bool
	}{
		"renewed in time":      {&metav1.MicroTime{Time: now.Add(-59 * time.Minute)}, new(int32(3600)), false},
		"renewed too long ago": {&metav1.MicroTime{Time: now.Add(-61 * time.Minute)}, new(int32(3600)), true},
		"never renewed":        {nil, new(int32(3600)), true},
		"without a duration":   {&metav1.MicroTime{Time: now}, nil, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: c.renewed, LeaseDurationSeconds: c.seconds}}
			if got := isExpired(lease, now); got != c.want {
				t.Errorf("expired: %v, want %v", got, c.want)
			}
		})
	}
}

// Servers on one host have leases of their own.
func TestNameContainsThePort(t *testing.T) {
	keys := map[string]bool{}
	for _, port := range []int{6443, 6444, 6443} {
		lease, err := New(Config{Port: port})
		if err != nil {
			t.Fatal(err)
		}
		keys[lease.Key()] = true
	}
	if len(keys) != 2 {
		t.Errorf("leases %v", keys)
	}
}
