// Package manifests brings what files describe into a server, as a client of it.
//
// [Read] takes objects from files and folders, [Applier] applies them on the
// server's side in an order that suits them, and [Folder] does so again whenever
// a file changes. What a file no longer names stays: nothing is deleted.
package manifests
