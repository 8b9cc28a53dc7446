// Package aggregator brings in the group versions that other API servers serve.
//
// An [Aggregator] watches the APIServices: for each that names a Service it finds
// out whether that answers, says so in the status, tells the catalog what is
// served there, and passes requests on, with the user's name in headers that the
// other server trusts because of the certificate that comes with them.
//
// A Service leads to the ready endpoints of its EndpointSlices, since nothing here
// routes cluster addresses, or to its externalName: 127.0.0.1 or localhost for a
// server that runs beside a test.
package aggregator
