// Package integration tests whole servers through the Go API and over HTTP. Each test starts its
// own server in the process.
package integration
