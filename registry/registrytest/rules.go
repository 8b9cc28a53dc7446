package registrytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rules returns a function that runs a subtest for one rule: it changes a valid object and
// compares the errors of the validation. The unchanged object must be valid.
func Rules[T any](t *testing.T, valid func() T, validate func(obj T) field.ErrorList) func(rule string, change func(obj T), want ...string) {
	t.Helper()
	if got := Texts(validate(valid())); got != nil {
		t.Fatalf("errors of the valid object: %q", got)
	}
	return func(rule string, change func(T), want ...string) {
		t.Helper()
		t.Run(rule, func(t *testing.T) {
			t.Helper()
			obj := valid()
			change(obj)
			if diff := cmp.Diff(want, Texts(validate(obj))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
