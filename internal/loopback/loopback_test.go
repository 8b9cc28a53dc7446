package loopback

import "testing"

func TestIsHost(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost":           true,
		"LocalHost":           true,
		"127.0.0.1":           true,
		"127.255.255.254":     true,
		"::1":                 true,
		"0:0:0:0:0:0:0:1":     true,
		"::1%lo":              true,
		"::ffff:127.0.0.1":    true,
		"":                    false,
		"0.0.0.0":             false,
		"::":                  false,
		"10.0.0.1":            false,
		"::ffff:10.0.0.1":     false,
		"127.1":               false,
		"127.0.0.1:80":        false,
		"[::1]":               false,
		"localhost.":          false,
		"a.localhost":         false,
		"localhost.example":   false,
		"127.0.0.1.localhost": false,
	} {
		if got := IsHost(host); got != want {
			t.Errorf("IsHost(%q) = %v, want %v", host, got, want)
		}
	}
}
