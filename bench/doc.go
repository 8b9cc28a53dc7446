// Package bench measures the server beside raw etcd: a benchmark runs the
// two in turns, in slices of a few milliseconds, on the same etcd in the same
// run, and reports their ratio. Machines are noisy; the ratio is what to look
// at. Both sides go over TCP on loopback: the API over HTTP, etcd over gRPC
// through its own client. The benchmarks of a process (its first start, a
// hundred servers) and of Stop stand alone. Nothing here fails for being slow.
package bench
