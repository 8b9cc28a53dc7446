// Package certs makes and loads the certificates of a server.
//
// An [Authority] lives in memory and is made with its server: it signs a
// serving certificate where none is given, and the client certificates of
// users. What comes from files is loaded by [LoadServing], [LoadOrMake] and
// [LoadPool].
package certs
