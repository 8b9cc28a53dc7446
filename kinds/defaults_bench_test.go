package kinds_test

import (
	"encoding/json"
	"testing"
)

// BenchmarkDefaults measures the defaulting of a minimal object and of a complete one.
func BenchmarkDefaults(b *testing.B) {
	const path = "/api/v1/namespaces/demo/pods"
	for _, c := range creations(b) {
		if c.Path != path {
			continue
		}
		version, _, complete, _ := c.object(b)
		minimal := version.New()
		if err := json.Unmarshal(c.Request, minimal); err != nil {
			b.Fatal(err)
		}
		b.Run("minimal", func(b *testing.B) {
			for b.Loop() {
				version.Default(minimal.DeepCopyObject())
			}
		})
		b.Run("copy", func(b *testing.B) {
			for b.Loop() {
				minimal.DeepCopyObject()
			}
		})
		b.Run("complete", func(b *testing.B) {
			for b.Loop() {
				version.Default(complete)
			}
		})
	}
}
