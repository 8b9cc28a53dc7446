// Package layout tests the repository itself: which package may import which, and that the
// documents agree with go.mod.
package layout
