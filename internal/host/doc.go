// Package host runs any number of isolated API servers in one process and manages them over a
// small HTTP API, the control API. Test suites in any language use it through `miniapi host`;
// package miniapitest is its client for Go.
//
// The control API listens on a unix socket, which only its user can open, or on a loopback port
// with a bearer token. Bodies are JSON. Errors are {"error": "..."} with a 4xx or 5xx code.
//
//	GET    /v1                              the versions of the host and of the Kubernetes API
//	GET    /v1/servers                      the servers, the oldest first
//	POST   /v1/servers                      start a server: ServerOptions, answered by a Server
//	GET    /v1/servers/{id}                 a server
//	DELETE /v1/servers/{id}                 stop a server
//	POST   /v1/servers/{id}/users           add a user: UserOptions, answered by a User
//	POST   /v1/servers/{id}/crds            install CustomResourceDefinitions: CRDOptions
//	GET    /v1/servers/{id}/requests        the last requests that ended
//	GET    /v1/servers/{id}/conflicts       the last conflicts, explained
//	GET    /v1/servers/{id}/requests/open   the open requests; with ?wait=1s, those open after 1s
//	GET    /v1/servers/{id}/writes          the writes of ?user=, after the revision ?after=
//	GET    /v1/servers/{id}/objects         the names of the objects, without bootstrap objects
//	POST   /v1/servers/{id}/keep            let the server outlive its lease, answered by a Kept
//	GET    /v1/servers/{id}/log             the last lines of the log of a server
//
// # Leases
//
// A server ends with its lease. With the lease "connection", the answer of POST /v1/servers is a
// stream of JSON lines (Event): the first holds the server, the following ones hold lines of its
// log. The host stops the server when the client closes the connection, for example because its
// process was killed. With the lease "pid", the host stops the server when that process has
// ended. Without a lease, a server lives until it is deleted. A kept server ends when it has had no
// request for Config.KeptIdleTimeout, or when it is deleted.
//
// A host without servers ends after its idle timeout. A host with Config.MaxServers servers rejects
// new ones with the code 429.
package host
