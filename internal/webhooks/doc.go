// Package webhooks calls webhooks over HTTPS, as kube-apiserver does: by URL or through a Service,
// with the CA bundle of the configuration.
//
// [Clients] creates clients that share connections, and closes all connections at once. The callers
// define requests and responses. Unlike in kube-apiserver, the size of a response is limited and
// redirects are not followed.
package webhooks
