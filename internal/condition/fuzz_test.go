package condition_test

import (
	"testing"

	"github.com/miniapi/miniapi/internal/condition"
)

// A text is an error, or a condition that can be evaluated.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"object.status.readyReplicas == 3", "self.metadata.name.startsWith('a') && object.spec.x > 1", "object.a.exists(x, x == 1)",
		"1", "has(object.a.b)", "object.matches('(')", "[1,2].all(i, i < object.n)", "'", "object[", "true ? object.a : false",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := condition.Compile(text); (c == nil) == (err == nil) {
			t.Errorf("condition %v, error %v", c, err)
		}
	})
}
