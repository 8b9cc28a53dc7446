// Package faults injects failures into requests, so that a test can show how a client handles them:
// conflicts, errors before or after a write, delays, broken connections, and watches that end or
// lag.
//
// A [Fault] has a [Match], which selects requests, and an [Effect]. A [Set] holds the faults of a
// server. For each request the first fault that selects it determines the effect. The order of the
// requests and the seeds determine the result, so a test with one client is repeatable.
//
// A Set is an injector of package api/filters, which applies the effects. Without faults it costs
// one atomic load for a request.
package faults
