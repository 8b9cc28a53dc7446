package metrics

import (
	"fmt"
	"testing"
)

func TestPathsAsLabelsAreLimited(t *testing.T) {
	var labels pathLabels
	for i := range maxPaths {
		if path := fmt.Sprint("/", i); labels.label(path) != path {
			t.Fatalf("%s is no label value", path)
		}
	}
	if got := labels.label("/more"); got != "" {
		t.Errorf("label value %q of one path more", got)
	}
	if got := labels.label("/0"); got != "/0" {
		t.Errorf("label value %q of an earlier path", got)
	}
}
