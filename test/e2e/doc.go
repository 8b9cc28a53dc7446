// Package e2e holds the tests that need more dependencies than the main module has: kubectl as a
// library, controller-runtime, and etcd members of a cluster. It is a separate module, so that
// importers of miniapi do not get these dependencies.
package e2e
