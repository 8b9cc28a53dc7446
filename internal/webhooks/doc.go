// Package webhooks reaches webhooks over HTTPS, as kube-apiserver does: at a URL
// or behind a Service, trusting the CA that comes with it.
//
// [Clients] makes clients that share connections, and ends them all at once.
// What is sent and what is answered is the callers' business.
package webhooks
