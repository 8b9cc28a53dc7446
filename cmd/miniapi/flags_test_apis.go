package main

import (
	"net"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/loopback"
)

// onLoopback reports whether all addresses of a server are on loopback.
func onLoopback(config miniapi.Config) bool {
	addresses := []string{config.Listen}
	if config.Secure != nil {
		addresses = append(addresses, config.Secure.Listen)
	}
	for _, address := range addresses {
		host, _, err := net.SplitHostPort(address)
		if address != "" && (err != nil || !loopback.IsHost(host)) {
			return false
		}
	}
	return true
}
