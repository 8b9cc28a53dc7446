// Package registry decides what a read or a write of a resource means. One
// [Store] serves every resource: it joins a [Resource] (names, scope, verbs,
// strategy, selectable fields, columns and subresources, all as data) to a
// storage.Interface.
//
// Every write goes through optimistic concurrency. [Store.Update] is the one
// path of PUT, PATCH, status, scale and the like: the client's proposal is made
// on the current object, its version is compared with the stored one, and the
// result is written only if nothing else was written in between. If something
// was, the whole step runs again on the new state, so that a proposal which
// names no version never loses and one that names a stale version conflicts.
//
// A change that a write makes to other objects, such as an allocated address or a
// charged quota, is a [Transaction]. It commits or rolls back when the outcome of the
// write is certain, if need be after the request: see [Catalog.Run].
//
// A [Catalog] holds the stores of one server and may change while it runs.
// The error for a client's mistake is an apierrors.StatusError
// with the reason, message and code of kube-apiserver; errors.go is the one
// table from storage's errors to those.
//
// Objects cross this package in the version they are stored in (the hub);
// package api converts them from and to the version a client asked for.
// Objects that it returns may be shared and must not be written to.
package registry
