// Package metrics holds the Prometheus metrics of one server, under the names of kube-apiserver.
// metrics.go declares each metric in one row; requests.go observes requests, access.go their
// authentication and authorization, health.go health checks, and objects.go counts the objects in
// storage during a scrape.
package metrics
