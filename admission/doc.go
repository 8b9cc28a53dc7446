// Package admission assembles the admission chain of a server from the plugins (package plugin),
// the policies (package policy) and the webhooks (package webhook), in the order of kube-apiserver.
package admission
