// Package freeport chooses addresses for tests of programs that cannot listen on port 0, for
// example because they listen on the same address again after a restart.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports are below the range from which systems take the ports for port 0 and for outgoing
// connections, so no other test takes them before the program listens, or while it is down.
const (
	firstPort = 15000
	lastPort  = 32000
)

// Addresses returns different addresses HOST:PORT whose ports are free.
func Addresses(host string, count int) (addresses []string, err error) {
	for range 100 * count {
		address := net.JoinHostPort(host, strconv.Itoa(firstPort+rand.IntN(lastPort-firstPort)))
		listener, listenErr := net.Listen("tcp", address)
		if listenErr != nil {
			continue
		}
		// Until all addresses are chosen, so that they differ.
		defer func() { err = errors.Join(err, listener.Close()) }()
		if addresses = append(addresses, address); len(addresses) == count {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("%s has no %d free ports between %d and %d", host, count, firstPort, lastPort)
}
