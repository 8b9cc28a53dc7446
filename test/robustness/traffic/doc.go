// Package traffic runs clients of a cluster and records all of their operations: writers, readers
// of single objects, of lists and of pages, watches and informers. All of them are clients of
// client-go without retries, so that each operation has one request and one outcome.
//
// The objects are Secrets, as typed objects in protobuf, and Widgets, which are custom resources. A
// write stores a value that no other write stores, so that each value identifies its write.
package traffic
