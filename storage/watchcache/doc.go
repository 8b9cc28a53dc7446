// Package watchcache serves reads and watches of many clients from memory, and
// hands writes on to the storage behind it.
//
// One [storage.Log] feeds a [Cache] with everything that happens, a whole
// revision at a time. For each resource the cache keeps the current entries,
// ordered by key, and a window of past events. What it answers is what the
// storage behind would have answered:
//
//   - A read without a resourceVersion asks for the current revision, waits
//     until the cache has reached it, and is answered from memory. A read of "0"
//     takes what is there, a read of N waits until N is there.
//   - A list at an exact revision, or at that of a continue token, is answered
//     from memory if the window reaches back to it, and by the storage if not.
//   - A watch reads the window at its own pace: there is no queue per watcher,
//     and a slow one holds nobody back. One that begins before the window, or
//     falls out of it, goes on as a watch of the storage behind: it misses
//     nothing unless that has compacted what it needs.
//   - A write starts from the cached entry where that is known to be current.
//
// What is read never goes back: whatever was answered from the storage behind
// raises a floor that the cache has to reach before its next answer. While the
// cache has no state, at the start or after a loss of the log, all reads go to
// the storage behind.
//
// A resource may be removed, and the log may be lost, at any time. So each read
// checks that the cache may answer under the same lock under which it takes the
// answer (read.go): otherwise the storage answers.
//
// [New] starts nothing; [Cache.Run] feeds the cache until its context ends.
package watchcache
