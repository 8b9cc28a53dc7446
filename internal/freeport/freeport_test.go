package freeport

import (
	"net"
	"slices"
	"testing"
)

func TestAddresses(t *testing.T) {
	const count = 50
	addresses, err := Addresses("127.0.0.1", count)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(addresses)
	if different := slices.Compact(slices.Clone(addresses)); len(different) != count {
		t.Errorf("%d different addresses, want %d: %v", len(different), count, addresses)
	}
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
	}
}

func TestNoFreeAddress(t *testing.T) {
	if addresses, err := Addresses("192.0.2.1", 1); err == nil { // an address of no host
		t.Errorf("got %v", addresses)
	}
}
