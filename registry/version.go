package registry

// versionPolicy says what a write without a resourceVersion means.
type versionPolicy int

const (
	// versionRequired: such a write is refused.
	versionRequired versionPolicy = iota
	// versionOptional: it applies to whatever is the latest.
	versionOptional
)

// versionVerdict is what to do about a write, as far as versions go.
type versionVerdict int

const (
	// versionProceed: the write is made on the state that is stored.
	versionProceed versionVerdict = iota
	// versionAdopt: the write names no version and takes that of the stored
	// state, which the storage then guards.
	versionAdopt
	// versionMissing: the write should have named a version.
	versionMissing
	// versionConflict: the write is made on another state.
	versionConflict
)

// decideVersion is optimistic concurrency in one place: asked is the revision
// that a write names, 0 if none, current that of the stored object.
func decideVersion(asked, current int64, policy versionPolicy) versionVerdict {
	switch {
	case asked == current:
		return versionProceed
	case asked != 0:
		return versionConflict
	case policy == versionOptional:
		return versionAdopt
	default:
		return versionMissing
	}
}
