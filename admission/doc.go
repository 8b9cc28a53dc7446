// Package admission assembles the admission chain of a server: the plugins (package plugin) with
// the policies (package policy) and webhooks (package webhook) in their midst.
package admission
