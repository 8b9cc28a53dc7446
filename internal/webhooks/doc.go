// Package webhooks reaches webhooks over HTTPS, as kube-apiserver does: at a URL
// or behind a Service, trusting the CA that comes with it.
//
// [Clients] makes clients that share connections, and ends them all at once.
// The callers define requests and read answers. An answer has a bound, and redirects
// are not followed: kube-apiserver reads any answer and follows redirects.
package webhooks
