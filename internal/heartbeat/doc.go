// Package heartbeat publishes that a server runs: a [Lease] kube-system/apiserver-HASH, as
// kube-apiserver keeps it, with the label apiserver.kubernetes.io/identity. Controllers and
// administrators count the servers of a cluster by these leases.
package heartbeat
