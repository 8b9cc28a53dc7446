// Package kind builds a registry.Resource out of a Go type and the little that
// sets one kind apart from the next.
//
// A [Definition] is data: the types, the names, and what the kind does beyond
// the defaults. Build lays the kind's own functions over those defaults, which
// are what nearly every kind of Kubernetes does: a create forgets the status, an
// update keeps it, a write of the status keeps everything else, and
// metadata.generation counts the changes of the spec.
//
// Objects at rest have the bytes that kube-apiserver gives them in etcd: the
// protobuf envelope k8s\x00, or JSON for the few kinds without protobuf.
package kind
