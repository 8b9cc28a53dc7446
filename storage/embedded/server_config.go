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
	// peerURL is the address of the only member. It is never dialled and has no listener. It is an
	// address, not a name, because etcd would resolve a name.
	peerURL = "http://127.0.0.1:2380"

	// A single member waits for no votes, so raft's minimum of ticks before an election is
	// sufficient.
	electionTicks = 2

	// A single member needs ticks for the election at its start only, and each tick costs CPU of an
	// idle server. The long tick is for members that campaign without ticks (instance.campaign),
	// the short one for members whose election is a part of the start-up time. etcd's shortest
	// lease is 3 ticks, in whole seconds.
	longTick  = 200 * time.Millisecond
	shortTick = 10 * time.Millisecond

	// segmentSize is the size of the segments of the write-ahead log; etcd allocates two at once.
	// Its default of 64 MB is too large for a server that lives for one test.
	segmentSize = 4 << 20

	// mappedSize is the part of the database that is mapped into memory from the start. bbolt
	// doubles the mapping when it is full, and a write then waits until no read is in progress.
	// Mapping the whole quota, as etcd does, would reserve gigabytes of address space per server.
	mappedSize = 32 << 20

	// keptEntries is the number of entries of raft's log that stay in memory after a snapshot.
	// They serve slow followers, and there are none. A start that replays no more entries can
	// campaign at once.
	keptEntries = 16

	// snapshotEntries is the number of log entries after which etcd makes a snapshot and no longer
	// needs the entries before it. With objects of 1 MB the log then has at most about 500 MB.
	// etcd's default of 10000 is 20 times as much. A snapshot costs a sync to disk, even in a
	// temporary directory.
	snapshotEntries = 500
)

// MaxRequestBytes is the maximum size of a request, which is etcd's default.
const MaxRequestBytes = 1536 << 10

// setPackageVariables sets etcd's package variables. It must run before the first server starts,
// because etcd reads them without a lock.
var setPackageVariables = sync.OnceFunc(func() {
	wal.SegmentSizeBytes = segmentSize
	backend.InitialMmapSize = mappedSize
})

// serverConfig returns etcd's configuration. Fields that it does not derive from cfg have the
// defaults of etcd's command line.
func serverConfig(cfg Config, clientURLs types.URLs, logger *zap.Logger) config.ServerConfig {
	peers := types.URLs{mustParse(peerURL)}
	return config.ServerConfig{
		Name:                        memberName,
		DataDir:                     cfg.DataDir,
		ClientURLs:                  clientURLs,
		PeerURLs:                    peers,
		InitialPeerURLsMap:          types.URLsMap{memberName: peers},
		InitialClusterToken:         memberName,
		NewCluster:                  true,
		TickMs:                      uint(longTick.Milliseconds()),
		ElectionTicks:               electionTicks,
		InitialElectionTickAdvance:  true,
		QuotaBackendBytes:           cfg.QuotaBytes,
		BackendFreelistType:         bolt.FreelistMapType,
		SnapshotCount:               snapshotEntries,
		SnapshotCatchUpEntries:      keptEntries,
		MaxSnapFiles:                1,
		MaxWALFiles:                 0, // see walPurger
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
