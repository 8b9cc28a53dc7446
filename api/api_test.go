package api

import (
	"strings"
	"testing"
)

func TestNewReturnsAllConfigErrors(t *testing.T) {
	_, err := New(Config{})
	for _, want := range []string{"Config.Catalog is missing", "Config.Scheme is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error does not contain %q: %v", want, err)
		}
	}
}
