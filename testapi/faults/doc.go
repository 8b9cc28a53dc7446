// Package faults injects failures into requests, so that a test can show how a client handles them:
// conflicts, errors before or after a write, delays, broken connections, watches that end or lag,
// stale reads, and failures of etcd.
//
// A [Fault] has a [Match], which selects requests, and an [Effect]. A [Set] holds the faults of a
// server. For each request the first fault that selects it determines the effect. The order of the
// requests and the seeds determine the result, so a test with one client is repeatable.
//
// A Set is an injector of package api/filters, which applies the effects, and determines the
// failures of package storage/etcd. Without faults it costs one atomic load for an API request and
// one for a request to etcd.
//
// A Set keeps its faults as objects of kind Fault, in a store in memory. [Resource] serves them in
// the API. Each change of the objects, from a client or from Go, changes the active faults.
package faults
