// Package bench measures the server beside raw etcd. A benchmark alternates between the two in
// slices of a few milliseconds, on the same etcd in the same run, and reports their ratio.
// Machines are noisy: compare the ratios only. Both sides use TCP on loopback: the API HTTP,
// etcd gRPC with its own client. The benchmarks of a process (its first start, a hundred
// servers) and of Stop have no second side. No benchmark fails because it is slow.
//
// BenchmarkRequests and BenchmarkGrowth measure the CPU time and the memory of servers in processes
// of their own. If BENCH_KUBE_APISERVER names a directory with the programs etcd and
// kube-apiserver, they measure these too.
package bench
