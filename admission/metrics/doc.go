// Package metrics holds the Prometheus metrics of the admission control of one server, under the
// names of kube-apiserver: of the chain, of each plugin, and of each webhook.
package metrics
