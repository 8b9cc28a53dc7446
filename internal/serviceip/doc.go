// Package serviceip allocates cluster IPs and node ports of services. [Allocator.Hooks] run a
// transaction around each write of a service. It claims addresses and ports before the write. The
// rollback releases these claims if the write fails. The commit releases what the service no
// longer has. Both are repeated until they succeed.
//
// etcd ensures that several servers never allocate an address or a port twice. An address is
// claimed by creating the IPAddress object with its name, which fails if it exists. Node ports are
// bits of one object in the format of kube-apiserver (/ranges/servicenodeports), which is updated
// with optimistic concurrency.
//
// A leaked address is better than an address that is allocated twice: unfinished claims of a server
// that crashed remain. They are checked when they are requested or when nothing else is free. A
// claim that no service has used for longer than any request takes is free again.
package serviceip
