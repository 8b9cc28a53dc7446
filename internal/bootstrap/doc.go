// Package bootstrap knows what a cluster holds before anybody has written to
// it. [Objects] returns it as keys and encoded values, for the root package to
// write where they are absent.
//
// [Minimal] is what the server itself relies on: the namespaces, and the
// Service through which the API is reached, with its address. [Full] is all that a fresh
// kube-apiserver creates, some 190 objects. Those that are the same in every
// cluster, such as the roles of RBAC, come from objects.pb.gz: a gzipped
// metav1.List of values at rest, made of testdata/recorded.json, which holds
// what kube-apiserver v1.36.3 answered. To make it anew:
//
//	go test ./internal/bootstrap -run TestFull -update
//
// What follows from the server's own addresses is put together here. The lease
// by which kube-apiserver tells its peers that it lives is left out: nobody
// here renews it.
package bootstrap
