// Package datastore opens the etcd behind a server, embedded or a cluster, and assembles the
// storage layers over it: the backend, the watch cache and the metrics of requests.
//
// [Open] connects and starts an embedded etcd. [Datastore.Run] feeds the watch cache, compacts the
// history and notices the end of an embedded etcd.
package datastore
