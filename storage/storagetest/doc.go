// Package storagetest is the test suite for implementations and wrappers of storage.Interface.
//
// [Run] runs one file per verb and one subtest per rule of the contract. [Simulate] runs random
// writers, readers and watchers on one store and checks their observations against etcd's own
// history, see package storagetest/model. Both run once for a typed resource, stored as protobuf,
// and once for an unstructured resource, stored as JSON.
//
// A [Harness] provides stores and their etcd: the suite compacts etcd, writes raw bytes into it
// and reads the stored bytes.
package storagetest
