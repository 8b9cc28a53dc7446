// Package recording records the requests of a client with their answers, and replays them to any
// API server. An [Exchange] is one request with its answer. A [Recorder] is a reverse proxy that
// keeps exchanges, [Write] and [Read] are their format, [Replay] sends the requests again, and
// [Diff] prints the differences.
//
// Values that differ from run to run have names in a recording: <uid-1>, <resourceVersion-2>,
// <time>. The same name stands for the same value, so that equal and different values stay visible.
// A replay binds the names of the recording to the values of the answers (type names), sends these
// values in later requests, and writes the answers in the same form, to compare two texts.
//
// Invariant: a name has one value, and a value of a class one name. The exceptions are <time> and
// <age>, which stand for any value, and the resourceVersions of lists, because writes of other
// clients change them.
//
// The values of Secrets and the tokens of service accounts have names too, so a recording does not
// contain them.
package recording
