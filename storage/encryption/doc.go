// Package encryption encrypts the values in etcd as an EncryptionConfiguration of kube-apiserver
// states. The stored bytes are the same, so each server reads the values of the other one.
//
// [Open] loads the file and connects to the KMS plugins. An [Encryption] is a
// transform.Transformer: it derives the resource from the key of a value, and the resource decides
// which providers read and write the value. The first provider writes, all of them read, and a
// value that another provider or key has written is stale. [Encryption.Run] probes the KMS plugins,
// and loads the file again when it has changed.
//
// The ciphers and the envelope of KMS version 2 are those of k8s.io/apiserver/pkg/storage/value,
// and the decoding and validation of the file those of k8s.io/apiserver/pkg/apis/apiserver. The
// package encryptionconfig of k8s.io/apiserver is not used: it links the framework of
// kube-apiserver, and its goroutines, metrics and log belong to the process instead of one server.
//
// Errors, logs and metrics never contain secrets of the file.
package encryption
