// Package watchcache serves reads and watches of many clients from memory, and passes writes to the
// underlying storage.
//
// One [storage.Log] feeds a [Cache] with all changes, a whole revision at a time. For each resource
// the cache keeps the current entries, ordered by key, and a window of past events. Its answers are
// those that the underlying storage would give:
//
//   - A read without a resourceVersion gets the current revision from etcd, waits until the cache
//     has applied it, and is answered from memory. A read at "0" returns the state of the cache, a
//     read at N waits until the cache has applied N.
//   - A list at an exact revision, or at the revision of a continue token, is answered from memory
//     if the window reaches back to that revision, and otherwise by the storage.
//   - A watch reads the window at its own pace: there is no queue per watcher, and a slow watcher
//     does not delay others. An event wakes only the watches that select its key, or a value of its
//     fields. A watch that starts before the window, or falls behind it, is a watch of the
//     underlying storage until it has caught up. It misses events only if the storage compacted
//     them.
//   - A write starts from the cached entry if that is known to be current.
//
// Reads never go back in time: each answer of the underlying storage raises the minimum revision,
// which the cache must have applied before its next answer. While the cache has no state, at the
// start or after a loss of the log, all reads go to the underlying storage.
//
// A resource can be removed, and the log can be lost, at any time. Therefore each read checks that
// the cache may answer under the same lock under which it takes the answer (read.go); otherwise the
// storage answers.
//
// [New] starts nothing; [Cache.Run] feeds the cache until its context ends.
package watchcache
