// Package conformance replays requests that were once sent to a real
// kube-apiserver (v1.36.3 with etcd 3.7.3, no controllers and no nodes) and
// holds the answers against the ones recorded then.
//
// testdata/AREA.jsonl.gz has one request with its answer a line. Within a chain
// of requests (the first two parts of their ids) uids and resourceVersions are
// numbered in the order of their appearance (UID1, RV3), in requests too, so
// that same and different, unchanged and stale stay visible; TIME, AGE and the
// like stand for what differs from run to run.
//
// The area deletions has every combination of some kinds, finalizers, delete
// options, preconditions and dry run. Left out are those after which
// kube-apiserver has the finalizers of a namespace in random order.
//
// differences.txt lists every answer that is not the recorded one, and why. An
// answer that differs and is not listed fails the test, and so does a line
// whose answer has become the recorded one. Not listed, since there is one rule
// for it: the order of managedFields, which goes by seconds.
package conformance
