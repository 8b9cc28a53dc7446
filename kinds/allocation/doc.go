// Package allocation hands out what no two services may have: cluster addresses
// and node ports. [Allocator.Hooks] surround the writes of services: what a write
// needs is taken before it and given back if it does not happen; what it no
// longer needs is given back after it.
//
// etcd is the arbiter, so that several servers never hand out one thing twice. An
// address is taken by creating the IPAddress of its name, which fails if it is
// there. Node ports are bits of one object, as kube-apiserver keeps them
// (/ranges/servicenodeports), updated like every other object: a lost race is
// decided again on what the winner has left.
//
// It is better to lose an address than to hand it out twice: whatever a server
// that died, or an etcd that did not answer, has left behind stays taken. When it
// is asked for, or nothing else is left, it is looked at: what no service has had
// for longer than any request takes is free again.
package allocation
