package kinds_test

import (
	"testing"

	"github.com/miniapi/miniapi/kinds/core"
)

// BenchmarkBuild is what the core group, the largest, adds to a start.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		core.Resources()
	}
}
