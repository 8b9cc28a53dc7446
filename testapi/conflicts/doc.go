// Package conflicts explains conflicts: writes that were rejected because another write changed the
// object first.
//
// [Explainer] is called by the registry for each conflict. It reads the states between the version
// that the write is based on and the stored one from the history in etcd, finds out who wrote them
// in the journal, and compares the fields that both sides changed.
package conflicts
