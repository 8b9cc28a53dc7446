// Package verify checks the record of all clients against the history of etcd, which an observer
// reads from etcd itself. Package model of the storage tests checks the writes, lists and watches;
// Porcupine searches a linear order of the reads and writes of each object; this package adds the
// checks of finalizers, patches and the content of reads and events.
package verify
