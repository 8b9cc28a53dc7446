// Package freeport chooses addresses for tests of programs that cannot listen on port 0, for
// example because they listen on the same address again after a restart.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports are below the range from which systems take the ports for port 0 and for outgoing
// connections, so no other test takes them before the program listens, or while it is down.
const (
	firstPort = 15000
	lastPort  = 32000
)

// tried counts the ports that were tried, from a random number on. A process tries all ports in
// turn, so that parallel tests get different ones before their programs listen.
var tried = func() *atomic.Uint32 {
	first := &atomic.Uint32{}
	first.Store(rand.Uint32N(lastPort - firstPort))
	return first
}()

// Addresses returns different addresses HOST:PORT whose ports are free.
func Addresses(host string, count int) (addresses []string, err error) {
	for range 100 * count {
		address := net.JoinHostPort(host, strconv.Itoa(firstPort+int(tried.Add(1)%(lastPort-firstPort))))
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
