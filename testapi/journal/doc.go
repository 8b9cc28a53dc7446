// Package journal records the writes of a server: which request made which revision of which key.
//
// [Journal.Wrap] returns a storage that reports the writes of one resource. [Journal.Writes] finds
// the writes of a key. The journal is in memory, bounded in entries and bytes, and drops its oldest
// writes. Writes of other servers to the same etcd are not in it.
package journal
