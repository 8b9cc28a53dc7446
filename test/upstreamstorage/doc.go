// Package upstreamstorage runs the storage suite of kube-apiserver
// (k8s.io/apiserver/pkg/storage/testing) against storage/etcd, and against the
// same store behind storage/watchcache.
//
// It is a module of its own since the suite needs modules that a user of the main
// module would otherwise download. Everything is in test files:
//
//   - adapter_test.go makes a storage.Interface of upstream's out of one of ours;
//     the translation of watches, errors and transformers has a file each.
//   - cases_test.go lists the calls of the suite, as upstream's stores make them.
//   - differences.txt lists every case that fails on purpose, with the reason.
//   - suite_test.go runs the cases in a child process and compares its results
//     with the list: a failure that is not listed and a listed case that passes
//     are both errors.
package upstreamstorage
