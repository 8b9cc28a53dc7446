// Package certs creates and loads the certificates of a server.
//
// An [Authority] is a CA. It signs the serving certificate, unless one is configured, and the
// client certificates of users. A [FrontProxy] holds the certificate for requests to aggregated
// API servers. A [Directory] keeps all of them in files, so that they survive a restart.
// [LoadPair] and [LoadBundle] load certificates that others created, and [Reloaded] loads them
// again when their files change.
package certs
