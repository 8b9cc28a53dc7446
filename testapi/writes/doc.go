// Package writes lists the committed writes of a client, with the changes of other clients that a
// write has undone without having seen them: lost updates. The writes come from the journal, their
// contents from the history that etcd keeps.
package writes
