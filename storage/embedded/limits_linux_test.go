package embedded_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/storage/embedded"
)

// A hundred servers of one process must fit into a few gigabytes of address space.
func TestServerTakesLittleAddressSpace(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	start(t, embedded.Config{})
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var mapped int64
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, temp) {
			var from, to int64
			if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
				t.Fatal(err)
			}
			mapped += to - from
		}
	}
	if mapped == 0 || mapped > 64<<20 {
		t.Errorf("%d bytes of its files are mapped", mapped)
	}
}
