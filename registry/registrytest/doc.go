// Package registrytest runs stores of a few small kinds on an embedded etcd,
// for tests of what package registry and those above it do. The kinds are not
// the built-in ones: each has just the rules that a test needs.
package registrytest
