// Package testapis has the tests of the test APIs with whole servers.
package testapis
