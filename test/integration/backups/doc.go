// Package backups has the tests of read-only servers: over a snapshot, a data directory, or the
// etcd of another server.
package backups
