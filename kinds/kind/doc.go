// Package kind builds a registry.Resource from a Go type and the properties of one kind.
//
// A [Definition] is data: the types, the names, the [Column] list and the functions of the kind.
// Build combines the functions with the rules of nearly all kinds: a create clears the status, an
// update keeps it, a write of the status keeps everything else, and metadata.generation counts the
// changes of the spec. It also erases the type of the kind, so that no other package converts
// runtime.Object.
//
// Objects at rest have the bytes that kube-apiserver stores in etcd: protobuf with the prefix
// k8s\x00, or JSON for the few kinds without protobuf. See [Codec].
package kind
