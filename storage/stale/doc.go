// Package stale answers reads from a state in the past, as an API server does whose watch cache
// lags behind etcd.
//
// [Wrap] returns a store that does so for requests whose context has a [Hold]. Only reads that may
// be answered from a cache are concerned: a get or list with a resourceVersion, and a watch. They
// are answered with the state at the revision of the hold, and a watch withholds later events.
// Consistent reads and writes go to the wrapped store, as if another server of the same etcd
// answered them.
package stale
