// Package registry implements reads and writes of resources. A [Resource] describes one (names,
// scope, verbs, strategy, selectable fields, columns and subresources, all as data), and a
// [Store] serves it over a storage.Interface. Resources without storage, such as reviews, are
// virtual. Both are an [Interface].
//
// Every write uses optimistic concurrency. [Store.Update] is the one path of PUT, PATCH, status,
// scale and the like. The proposal of the client is computed from the current object, its
// resourceVersion is compared with the stored one, and the result is written only if the object
// has not changed since. After a lost race the whole step runs again on the new state. A proposal
// without a resourceVersion never conflicts; a proposal with a stale one always does.
//
// A change that a write makes to other objects, such as an allocated address or a charged quota,
// is a [Transaction]. It is committed or rolled back when the outcome of the write is certain, if
// necessary after the request: see [Catalog.Run].
//
// A [Catalog] holds the resources of one server and may change while it is used. The error for a
// mistake of the client is an apierrors.StatusError with the reason, message and code of
// kube-apiserver; errors.go has the table that maps errors of the storage to it.
//
// All objects are in the version that is stored (the hub); package api converts them from and to
// the version of the client. Objects that the registry returns may be shared and must not be
// modified.
package registry
