// Package aggregator adds the group versions of other API servers to the catalog.
//
// An [Aggregator] watches the APIServices. For each one that names a Service it checks the
// availability of the server behind it, writes the condition Available, publishes the resources of
// the server in the catalog, and proxies requests. The proxied request has the user in headers,
// which the other server trusts because of the client certificate.
//
// No network routes cluster addresses here. A Service is resolved to the ready endpoints of its
// EndpointSlices, or to its externalName: 127.0.0.1 or localhost for a server on this host.
package aggregator
