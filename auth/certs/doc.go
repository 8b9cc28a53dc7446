// Package certs creates and loads the certificates of a server.
//
// An [Authority] is a CA in memory that is created with its server. It signs the serving
// certificate, unless one is configured, and the client certificates of users. [LoadServing],
// [LoadOrCreate] and [LoadPool] load certificates from files.
package certs
