package api

import (
	"strings"
	"testing"
)

// All that is wrong with a configuration is told at once.
func TestNewListsEveryFault(t *testing.T) {
	_, err := New(Config{})
	for _, want := range []string{"Config.Catalog is missing", "Config.Scheme is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
