// Package storage is the contract between the registry and the store of the objects. It imports no
// etcd: storage/etcd implements [Interface] over an etcd client, either the in-process client of an
// embedded etcd or a gRPC client of a cluster. storage/storagetest has the suite that every
// implementation and every wrapper must pass.
//
// Keys are paths such as /pods/default/web: a leading slash, the path of the resource, the
// namespace of a namespaced object, the name. The implementation prepends a prefix of its own
// (/registry). A key that ends in a slash stands for all keys below it.
//
// Reads return entries, which are immutable once published and may be shared: a caller that
// changes an object copies it first. The resourceVersion of an object is the revision of its last
// write, see package versioner. [ListOptions.Plan] and [WatchOptions.Plan] are the rules for the
// resourceVersion of a request.
//
// An error is one of the sentinels in errors.go inside a [KeyError]. The registry translates it to
// the Status that clients receive.
package storage
