// Package informer keeps a copy of the objects of one resource and reports each change of it.
//
// An [Informer] watches a resource through the stores of the registry. Its state is the known set:
// the latest entry of each object. Three things change it: the initial events of a watch, later
// events of the watch, and the lists that [Informer.Sync] reads. Each of them names a revision, so
// an outdated one is ignored. A lost watch is started again with the complete state, and the
// difference to the known set, deletions included, is reported.
//
// There are two ways to use an informer:
//
//   - Read the known set: [Informer.Sync], then [Informer.List]. [Informer.Generation] changes with
//     the known set. The watch of such an informer begins with the first Sync. Without
//     [Informer.Run] only Sync updates the known set.
//   - Set Config.Handle, which Run calls with one change after the other. Sync then also waits
//     until the changes before it are handled. Intermediate states of an object may be skipped.
//     The deletion of an object that Handle has seen is never skipped, even if another object of
//     the same name exists by then.
//
// Objects that cannot be decoded are in the known set like all others: the methods of their entry
// return the error. The informer makes its requests as the user system:apiserver.
package informer
