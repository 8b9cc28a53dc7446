// Package lifecycle tracks the open requests of a server. A [Tracker] rejects new requests once
// the shutdown has begun, signals watches to end, and waits until the open requests are answered.
package lifecycle
