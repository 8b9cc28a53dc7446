package robustness_test

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/miniapi/miniapi/test/robustness/cluster"
	"github.com/miniapi/miniapi/test/robustness/fault"
)

// TestRobustness runs all scenarios. No acknowledged write may be lost, and no client may observe
// anything that contradicts the history of etcd.
func TestRobustness(t *testing.T) {
	seed := cmp.Or(*seed, rand.Uint64())
	t.Logf("repeat the faults and operations with -seed %d", seed) // their order in time is not repeatable
	for n, s := range scenarios {
		if *only != "" && *only != s.name {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			s.cluster.Dir, s.cluster.Etcd = t.TempDir(), *etcd
			s.useProgram(t)
			if s.disk > 0 {
				s.useDisk(t)
			}
			report, err := execute(t.Context(), s, seed+uint64(n), time.Duration(s.share*float64(*duration)))
			check(t, err)
			t.Log(report)
			if len(report.violations) > 0 {
				t.Errorf("%d violations", len(report.violations))
			}
		})
	}
}

// buildTime is the minimum time of all scenarios for those that require a build with patches.
const buildTime = time.Minute

// useProgram builds the servers, and the members if their clocks can be shifted.
func (s *scenario) useProgram(t *testing.T) {
	switch {
	case s.cluster.Clocks:
		s.cluster.Program = build(t, "clockserver", cluster.ClockServer)
	case !s.slowDisk && !s.shiftedClocks:
		s.cluster.Program = program(t)
	case *duration < buildTime:
		t.Skipf("%s requires a -duration of %v", s.name, buildTime)
	case s.shiftedClocks && *etcd != "":
		t.Skip("the clocks of another version of etcd cannot be shifted")
	case s.shiftedClocks:
		flags, err := cluster.ShiftedClockFlags(t.Context(), t.TempDir())
		check(t, err)
		s.cluster.Program = build(t, "miniapi-shifted-clock", cluster.Miniapi, flags...)
		s.cluster.Etcd = build(t, "etcd-shifted-clock", cluster.Etcd, flags...)
	case runtime.GOOS != "linux":
		t.Skip("a slow disk requires Linux")
	default:
		flags, err := cluster.SlowDiskFlags(t.Context(), t.TempDir())
		check(t, err)
		s.cluster.Program = build(t, "miniapi-slow-disk", cluster.Miniapi, flags...)
	}
}

// useDisk gives the cluster a small disk.
func (s *scenario) useDisk(t *testing.T) {
	disk := t.TempDir()
	mountTmpfs(t, disk, s.disk)
	s.cluster.DataDir = filepath.Join(disk, "data")
	s.faults = []fault.Fault{fault.FullDisk{Dir: disk}}
}

var scenarios = []scenario{
	{name: "embedded etcd", share: 0.35, faults: []fault.Fault{
		fault.KillServer{}, fault.StopServer{}, fault.PauseServer{}, fault.Compact{}, fault.ChangeDefinition{},
		fault.RecreateDefinition{},
	}},
	{name: "etcd cluster", share: 0.45, cluster: cluster.Config{Members: 3, Replicas: 2}, faults: []fault.Fault{
		fault.KillLeader{}, fault.PauseFollower{}, fault.PauseLeader{}, fault.PartitionLeader{}, fault.PartitionFollower{},
		fault.SlowMember{}, fault.KillServer{}, fault.PauseServer{}, fault.CutServer{}, fault.Compact{},
		fault.ChangeDefinition{}, fault.RecreateDefinition{},
	}},
	{name: "clocks", share: 0.1, cluster: cluster.Config{Members: 1, Replicas: 2, Clocks: true}, faults: []fault.Fault{
		fault.JumpClock{}, fault.KillServer{}, fault.PauseServer{},
	}},
	{name: "shifted clocks", share: 0.1, shiftedClocks: true, cluster: cluster.Config{Members: 3, Replicas: 2}, faults: []fault.Fault{
		fault.ShiftClock{}, fault.ShiftClock{}, fault.KillLeader{}, fault.PartitionLeader{}, fault.KillServer{}, fault.Compact{},
	}},
	{name: "slow disk", share: 0.1, slowDisk: true, faults: []fault.Fault{
		fault.SlowDisk{}, fault.KillSlowServer{}, fault.Compact{},
	}},
	{name: "quota", share: 0.1, cluster: cluster.Config{Args: []string{"--etcd-quota-backend-bytes=16777216"}}, faults: []fault.Fault{
		fault.FillQuota{}, fault.Compact{}, fault.KillServer{},
	}},
	{name: "full disk", share: 0.1, disk: 256 << 20},
}
