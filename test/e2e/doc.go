// Package e2e holds the tests that need more than the main module may depend
// on: kubectl as a library, controller-runtime, and etcd members of a cluster.
// It is a module of its own so that none of that reaches whoever imports
// miniapi.
package e2e
