// Package bench measures the server beside raw etcd: every benchmark runs the
// two in turns, in slices of a few milliseconds, on the same etcd in the same
// run, and reports their ratio. Machines are noisy; the ratio is what to look
// at. Both sides go over TCP on loopback: the API over HTTP, etcd over gRPC
// through its own client. Nothing here fails for being slow.
package bench
