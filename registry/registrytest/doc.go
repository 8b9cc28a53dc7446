// Package registrytest runs a registry with a few small kinds on an embedded etcd, for tests of
// the registry and of the packages above it. The kinds are not the built-in ones: each has only
// the rules that tests need.
package registrytest
