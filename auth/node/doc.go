// Package node has the authorizer of kubelets, the mode Node of kube-apiserver.
//
// [Authorizer] allows a node to access its own Node, Lease and CSINode, its pods, and the objects
// that its pods use: Secrets, ConfigMaps, volumes, ServiceAccounts and claims. authorizer.go has
// the rules of each resource, rules.go the rules that are the same for all nodes.
//
// kube-apiserver keeps a graph of these references in memory. Here graph.go reads them from the
// watch cache for each request, so that the mode costs nothing in servers without nodes and never
// lags behind. A denial is confirmed by a consistent read.
package node
