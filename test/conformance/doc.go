// Package conformance replays requests that were sent to a real kube-apiserver (v1.36.3 and
// v1.37.1 with etcd 3.7.3, no controllers and no nodes) and compares the responses with the
// recorded ones. The server emulates the release of the recording.
//
// testdata/AREA.jsonl.gz has one request with its response per line. Within a chain of requests
// (the first two parts of their ids) uids and resourceVersions are numbered in the order of
// their appearance (UID1, RV3), in requests too, so that equal and different, unchanged and
// stale stay visible. TIME, AGE and similar names stand for values that differ from run to run.
//
// The area deletions has every combination of some kinds, finalizers, delete options,
// preconditions and dry run, except those after which kube-apiserver stores the finalizers of a
// namespace in random order.
//
// The area options has reads with every combination of the options of lists and
// watches. Its answers are in short form, see TestReplayOptions, and are replayed
// with the watch cache and without it.
//
// The requests are sent as the administrator of the recording. Parts of requests that the recorder
// has lost are restored (restore_test.go), and times that a request repeats from a response are
// the values of this run (times_test.go). Steps without a complete request are left out.
//
// testdata/v1.37/AREA.jsonl.gz has the steps whose responses differ in v1.37. TestRecordings writes
// these files from complete recordings: go test -run TestRecordings -recordings FOLDER.
//
// differences.txt lists every response that differs from the recorded one in both releases, and the
// reason; differences-1.36.txt, or 1.37, lists the responses that differ in one release. A response
// that differs and is not listed fails the test, and so does a listed response that no longer
// differs. The order of managedFields is not compared, because it depends on the second
// of each write.
package conformance
