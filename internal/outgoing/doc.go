// Package outgoing connects to other servers: webhooks and token issuers.
//
// A [Dialer] has the connections of one caller and closes all of them at once. [NewClient] returns
// an HTTP client that limits responses and refuses redirects.
package outgoing
