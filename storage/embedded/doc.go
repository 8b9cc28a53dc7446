// Package embedded runs a single-member etcd within the process.
//
// [Start] returns a [Server] that is ready; its Client calls etcd's services directly, without a
// connection. etcd listens for other processes only at [Config].ListenClientURLs, and has no peer
// port. Any number of servers can run side by side.
//
// Without a data directory a server uses a temporary directory, which is never synced to disk and
// removed with the server; such a server starts within about ten milliseconds and stops within one
// or two. With a data directory the server is durable and locks the directory while it runs.
// [Restore] creates a data directory from a snapshot.
//
// etcd assumes a process of its own: it waits without a limit for a locked file, and ends the
// process if it cannot read its data. Therefore hooks of its logger turn Fatal and Panic into
// errors ([Server.Err]), and the data directory is checked before etcd opens it. The check finds
// problems that the hooks cannot handle, and data with which etcd would start but then lose
// writes. Its errors are [ErrInUse], [ErrForeign] and [ErrCorrupt]. It cannot find damage within a
// value, because etcd stores no checksum of it.
//
// The database is kept below its quota: its history is compacted by size, and a write that finds
// no space waits until the file is defragmented (quota.go). If the objects alone need the quota,
// writes are rejected with etcd's ErrNoSpace. An etcd that gave up because the disk is full is
// replaced by a new instance in the same process once the disk has space (restart.go). Until then,
// caches such as package watchcache answer reads.
//
// All servers of a process share two package variables of etcd: its metrics, and the segment size
// of the write-ahead log.
package embedded
