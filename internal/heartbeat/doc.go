// Package heartbeat renews the identity lease of a server, as kube-apiserver does: the [Lease]
// kube-system/apiserver-HASH with the label apiserver.kubernetes.io/identity. Controllers and
// administrators count the servers of a cluster by these leases.
package heartbeat
