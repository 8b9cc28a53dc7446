// Package serviceip allocates what no two services may have: cluster addresses
// and node ports. [Allocator.Hooks] surround the writes of services with a
// transaction: what a write needs is claimed before it and released by the
// rollback, if the write does not happen; what the service no longer needs is
// released by the commit. Both are repeated until they succeed.
//
// etcd is the arbiter, so that several servers never hand out one thing twice. An
// address is taken by creating the IPAddress of its name, which fails if it is
// there. Node ports are bits of one object, as kube-apiserver keeps them
// (/ranges/servicenodeports), updated like every other object: a lost race is
// decided again on what the winner has left.
//
// It is better to lose an address than to allocate it twice: the unfinished claims
// of a server that died stay. They are checked when they are asked for, or when
// nothing else is free: what no service has had for longer than any request takes
// is free again.
package serviceip
