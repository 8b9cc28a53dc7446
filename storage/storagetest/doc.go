// Package storagetest is what every implementation of storage.Interface, and
// every wrapping of one, must pass.
//
// [Run] is the suite: one file per verb, one subtest per rule of the contract,
// named for it. [Simulate] lets writers, readers and watchers loose on one
// store and checks what they saw against etcd's own history, see package
// storagetest/model. Both run once for a typed resource, stored as protobuf,
// and once for an unstructured one, stored as JSON.
//
// A [Harness] gives them stores, and the etcd behind: to compact it, to put
// raw bytes into it, and to read what was really written.
package storagetest
