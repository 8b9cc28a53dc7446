package encoding

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestCheckDepth(t *testing.T) {
	object := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }
	for _, c := range []struct {
		name, body string
		rejected   bool
	}{
		{"empty", "", false},
		{"an object of the maximum depth", object(maxDepth), false},
		{"an object one level deeper", object(maxDepth + 1), true},
		{"a list around an object of the maximum depth", "[" + object(maxDepth) + "]", true},
		{"nested lists", `{"a":` + strings.Repeat("[", maxDepth), true},
		{"space before a deep object", "\n " + object(maxDepth+1), true},
		{"many objects in one list", `{"a":[` + strings.Repeat("{},", 2*maxDepth) + `{}]}`, false},
		{"brackets in a string", `{"a":"` + strings.Repeat("{", 2*maxDepth) + `"}`, false},
		{"an escaped quote", `{"a":"\"` + strings.Repeat("{", 2*maxDepth) + `"}`, false},
		{"an escaped backslash before the end of a string", `{"a":"\\","b":` + object(maxDepth) + `}`, true},
		{"an unterminated string", `{"a":"` + strings.Repeat("{", 2*maxDepth), false},
		{"YAML", "a: |\n  " + strings.Repeat("{", 2*maxDepth), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckDepth([]byte(c.body))
			if rejected := apierrors.IsBadRequest(err); rejected != c.rejected || rejected != (err != nil) {
				t.Errorf("error is %v, want rejected %v", err, c.rejected)
			}
		})
	}
}
