package registry

// versionPolicy is the meaning of a write without a resourceVersion.
type versionPolicy int

const (
	// versionRequired: the write is rejected.
	versionRequired versionPolicy = iota
	// versionOptional: the write applies to the latest state.
	versionOptional
)

// versionVerdict is the decision about the resourceVersion of a write.
type versionVerdict int

const (
	// versionProceed: the write is based on the stored state.
	versionProceed versionVerdict = iota
	// versionAdopt: the write has no resourceVersion and gets the stored one. The storage then
	// rejects the write if the state has changed.
	versionAdopt
	// versionMissing: the write lacks a required resourceVersion.
	versionMissing
	// versionConflict: the write is based on another state.
	versionConflict
)

// decideVersion is the whole rule of optimistic concurrency. proposed is the revision in the
// write, 0 if it has none, and current the revision of the stored object.
func decideVersion(proposed, current int64, policy versionPolicy) versionVerdict {
	switch {
	case proposed == current:
		return versionProceed
	case proposed != 0:
		return versionConflict
	case policy == versionOptional:
		return versionAdopt
	default:
		return versionMissing
	}
}
