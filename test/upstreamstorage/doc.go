// Package upstreamstorage runs the storage suite of kube-apiserver
// (k8s.io/apiserver/pkg/storage/testing) against storage/etcd, and against the
// same store behind storage/watchcache.
//
// It is a separate module, so that users of the main module do not download the modules of the
// suite. Everything is in test files:
//
//   - adapter_test.go implements upstream's storage.Interface over the one of this project;
//     watches, errors and transformers are translated in a file each.
//   - cases_test.go lists the calls of the suite, as in the tests of upstream's stores.
//   - differences.txt lists every case that fails on purpose, with the reason.
//   - suite_test.go runs the cases in a child process and compares its results
//     with the list: a failure that is not listed and a listed case that passes
//     are both errors.
package upstreamstorage
