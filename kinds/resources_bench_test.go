package kinds_test

import (
	"testing"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/feature"
)

// BenchmarkBuild measures the core group, the largest, at a start.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		core.Resources(feature.Default())
	}
}
