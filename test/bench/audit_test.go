package bench

import (
	"path/filepath"
	"testing"

	"github.com/miniapi/miniapi"
)

// BenchmarkAuditLog measures requests that are written to an audit log at level Metadata, beside
// requests to a server without one.
func BenchmarkAuditLog(b *testing.B) {
	for name, request := range faultRequests {
		b.Run(name, func(b *testing.B) {
			with := newFixtureWith(b, miniapi.Config{AuditLogPath: filepath.Join(b.TempDir(), "audit.log")})
			without := newFixture(b)
			with.fill(1)
			without.fill(1)
			compare(b,
				&side{name: "with", workers: 1, do: func(_, i int) error { return request(with, i) }},
				&side{name: "without", workers: 1, do: func(_, i int) error { return request(without, i) }})
		})
	}
}
