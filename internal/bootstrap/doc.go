// Package bootstrap provides the objects of a new cluster. [Objects] returns their keys and encoded
// values. The root package writes the absent ones.
//
// [Minimal] has the objects that the server itself relies on: the namespaces, and the Service of
// the API with its address. [Full] has all objects that a new kube-apiserver creates, about 190.
// The objects that are the same in every cluster, such as the RBAC roles, come from
// objects-RELEASE.pb.gz: a gzipped metav1.List of stored values, created from
// testdata/recorded-RELEASE.json, which was recorded from kube-apiserver v1.36.3 or v1.37.1. To
// create them again:
//
//	go test ./internal/bootstrap -run TestFull -update
//
// The objects that depend on the addresses of the server are created here. The identity lease of
// kube-apiserver is kept by package heartbeat.
package bootstrap
