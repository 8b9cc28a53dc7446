// Package storage is the contract between the registry and whatever keeps the
// objects. It imports no etcd: storage/etcd implements [Interface] over an etcd
// client, be it the in-process client of an embedded etcd or one that speaks
// gRPC to a cluster, and storage/storagetest holds the suite that every
// implementation and every wrapping must pass.
//
// Keys are paths such as /pods/default/web: a leading slash, the resource's
// path, the namespace where there is one, the name. The implementation puts its
// own prefix (/registry) before them. A key that ends in a slash stands for
// everything below it.
//
// Reads return entries, which are immutable once published and may be shared:
// whoever wants to change an object copies it first. The version of an object
// is the revision of its last write, see package versioner.
//
// Errors are one of the sentinels in errors.go inside a [KeyError]; what a
// client sees is decided above this package.
package storage
