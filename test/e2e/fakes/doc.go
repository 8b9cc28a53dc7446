// Package fakes shows bugs that tests with a fake client do not find. Each test has code with a bug
// and runs it twice: with a fake client, where it passes, and with a server, where it fails.
// docs/from-fakes.md lists the tests with the discussions of each gap.
package fakes
