// Package manifests applies manifest files to a server, as a client.
//
// [Read] reads objects from files and folders. [Applier] applies them on the server side, in the
// order of their dependencies. [Folder] applies files again when they change. Objects that are
// removed from the files are not deleted.
package manifests
