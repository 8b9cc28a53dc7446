// Package snapshots serves snapshots of all objects of a server as objects of kind Snapshot: the
// creation takes a snapshot, the subresource restore restores it, and the deletion frees its
// memory.
//
// A [Set] holds the snapshots of a server, within limits of their number and size. [Resource]
// serves them in the API. They are in memory, so they end with the server, and they are not part of
// snapshots themselves.
package snapshots
