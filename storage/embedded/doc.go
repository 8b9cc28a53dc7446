// Package embedded runs an etcd of a single member within the process.
//
// [Start] returns a [Server] that is ready; its Client calls etcd's services
// directly, without a connection. etcd has no port of its own unless
// [Config].ListenClientURLs asks for one, and none for peers, of which it has
// no use. Any number of servers can run side by side.
//
// Without a data directory a server lives in a temporary one that is never
// synced to disk and goes away with it; such a server is up within some ten
// milliseconds and gone within one or two. With a data directory it is durable,
// and takes the directory for itself as long as it runs. [Restore] makes a data
// directory from a snapshot.
//
// etcd is made to own its process: it waits without end for a file that is
// locked, and ends the process over data that it cannot read. So its logger is
// given hooks which turn Fatal and Panic into errors ([Server.Err]), and a data
// directory is looked through before etcd gets to see it. That finds what
// hooks cannot help against, and data on which etcd would start but then lose
// writes. What it is about is told by [ErrInUse], [ErrForeign] and
// [ErrCorrupt]; damage to a value alone goes unseen, for etcd keeps no checksum
// over it.
//
// A database is kept below its quota: its history is compacted by size, and a
// write that finds no room waits until the file is defragmented (space.go). Where
// the objects alone need the quota, writes are refused with etcd's ErrNoSpace. An
// etcd that gives up because the disk is full is replaced by another in the same
// process once there is room (restart.go); until then reads are answered by those
// who remember, such as package watchcache.
//
// Two things are shared by all servers of a process, for etcd has them as
// package variables: its metrics, and the size of a segment of the write-ahead
// log.
package embedded
