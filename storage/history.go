package storage

// History holds the versions of one key that a store keeps.
type History struct {
	// Oldest is the oldest revision that can be read. Earlier ones are compacted.
	Oldest int64
	// Versions are the versions, the oldest first. The first one may be older than Oldest: it is
	// the state of the key at that revision.
	Versions []Version
}

// Version is one version of a key.
type Version struct {
	// Revision is the ModRevision of the version, or the revision of a deletion.
	Revision int64
	// CreateRevision is the revision that created the key, and Number the number of writes since
	// then, 1 for the creation. Both are 0 for a deletion.
	CreateRevision, Number int64
	// Entry is nil for a deletion.
	Entry *Entry
}
