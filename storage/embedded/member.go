package embedded

import (
	"fmt"
	"math"
	"net/url"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/features"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

const (
	memberName = "miniapi"
	// peerURL names the only member. It is never dialled and nothing listens
	// there. An address, not a name: etcd would look a name up.
	peerURL = "http://127.0.0.1:2380"

	// A single member waits for nobody, so its election may come after the
	// fewest ticks that raft allows. Short ticks make it come soon, at the
	// price of waking up as often.
	electionTicks = 2
	tick          = 5 * time.Millisecond

	// segmentSize is what etcd allocates at once, twice, for its write-ahead
	// log. Its default of 64 MB is too much for a server that lives for a test.
	segmentSize = 4 << 20

	// mappedSize is how much of the database is mapped into memory from the
	// start. bbolt maps twice as much when it is full, for which a write waits
	// until no read is under way. Mapping all that the quota allows, as etcd
	// does, would take gigabytes of address space for every server.
	mappedSize = 32 << 20

	// keptEntries of raft's log stay in memory after a snapshot. They are for
	// followers that lag behind, of which there are none.
	keptEntries = 16

	// snapshotEntries is how many entries of the log etcd writes before it makes a
	// snapshot and needs the log no more, so that it has at most some 500 MB where
	// objects have 1 MB. etcd's default of 10000 is 20 times as much. A snapshot
	// costs a sync to disk, also of a temporary directory.
	snapshotEntries = 500
)

// MaxRequestBytes is the size of the largest request that a member takes, as etcd
// has it by default.
const MaxRequestBytes = 1536 << 10

// shrink sets etcd's package variables. Once, before the first server starts,
// since etcd reads them without a lock.
var shrink = sync.OnceFunc(func() {
	wal.SegmentSizeBytes = segmentSize
	backend.InitialMmapSize = mappedSize
})

// memberConfig is etcd's configuration; what it does not name is as etcd's
// command line has it by default.
func memberConfig(cfg Config, clientURLs types.URLs, logger *zap.Logger) config.ServerConfig {
	peers := types.URLs{mustParse(peerURL)}
	return config.ServerConfig{
		Name:                        memberName,
		DataDir:                     cfg.DataDir,
		ClientURLs:                  clientURLs,
		PeerURLs:                    peers,
		InitialPeerURLsMap:          types.URLsMap{memberName: peers},
		InitialClusterToken:         memberName,
		NewCluster:                  true,
		TickMs:                      uint(tick.Milliseconds()),
		ElectionTicks:               electionTicks,
		InitialElectionTickAdvance:  true,
		QuotaBackendBytes:           cfg.QuotaBytes,
		BackendFreelistType:         bolt.FreelistMapType,
		SnapshotCount:               snapshotEntries,
		SnapshotCatchUpEntries:      keptEntries,
		MaxSnapFiles:                1,
		MaxWALFiles:                 0, // see trimmer
		MaxTxnOps:                   128,
		MaxRequestBytes:             MaxRequestBytes,
		MaxConcurrentStreams:        math.MaxUint32,
		WarningApplyDuration:        100 * time.Millisecond,
		WarningUnaryRequestDuration: 300 * time.Millisecond,
		BcryptCost:                  10,
		Metrics:                     "basic",
		ServerFeatureGate:           features.NewDefaultServerFeatureGate(memberName, logger),
		Logger:                      logger,
	}
}

func mustParse(raw string) url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(fmt.Sprintf("embedded: %v", err))
	}
	return *u
}
