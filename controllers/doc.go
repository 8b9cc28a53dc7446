// Package controllers runs the built-in controllers of a server: parts of kube-controller-manager
// that react to changes of objects. Each is a package below this one and a line in the table of
// table.go; [Config.Enabled] selects them by the names of kube-controller-manager.
//
// Package kubelet, also below this one, simulates nodes and pods in the mode [PodsInstant].
//
// All controllers share one feed of the changes of all stored objects, which the watch cache
// provides without a watch per resource (registry.Catalog.Follow). One goroutine passes the changes
// to the controllers, which add keys to their queues (package reconcile) and reconcile these in the
// background: they read the latest state, compare, and write through the registry. A restart of the
// server at any point is safe, because the feed begins with the complete state.
//
// A server without controllers starts no goroutine here. A controller without work has no workers.
package controllers
