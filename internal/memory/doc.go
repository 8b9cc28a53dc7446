// Package memory bounds the memory of requests. A [Budget] holds the bytes that the requests of a
// server may reserve together. If the process has a soft memory limit (GOMEMLIMIT), the budget is
// what the live heap leaves of it; otherwise it is fixed.
//
// Each request has a [Reservation] in its context. The layers of the server enlarge it with [Grow]
// before they allocate memory for the request alone: for its body, for a page of etcd, for a
// response that is built as a whole. ErrExhausted becomes a 429 with Retry-After.
//
// A [Returner] returns free memory to the operating system when the main program is idle.
package memory
