package serviceip_test

import (
	"testing"

	"github.com/miniapi/miniapi/internal/serviceip"
)

// A range of Services is an error, or has room for the first addresses.
func FuzzParseRanges(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/24", "10.0.0.0/24,fd00::/112", "fd00::/112,fd01::/112", "10.0.0.0/32", "::ffff:10.0.0.0/120", "/", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ranges, err := serviceip.ParseRanges(text)
		if err != nil {
			return
		}
		if len(ranges) == 0 || len(ranges) > 2 {
			t.Fatalf("%d ranges", len(ranges))
		}
		for _, r := range ranges {
			if !r.Contains(r.Addr().Next().Next()) {
				t.Errorf("%v has no room for an address", r)
			}
		}
	})
}

// A range of node ports is an error, or has a first port.
func FuzzParseNodePorts(f *testing.F) {
	for _, seed := range []string{"30000-32767", "30000+100", "0-1", "65535-65536", "2-1", "-", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ports, err := serviceip.ParseNodePorts(text)
		if err == nil && (ports.Base < 1 || ports.Size < 1 || ports.Base+ports.Size-1 > 65535) {
			t.Errorf("got %v", ports)
		}
	})
}
