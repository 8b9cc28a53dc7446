package conformance

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// step is a recorded request and its response.
type step struct {
	ID        string              `json:"id"`
	Method    string              `json:"method"`
	Path      string              `json:"path"`
	ReqHeader map[string][]string `json:"reqHeader"`
	Req       *string             `json:"req"`

	Status   int             `json:"status"`
	Header   string          `json:"header"` // Content-Type
	Warnings []string        `json:"warnings"`
	Body     json.RawMessage `json:"body"`
	Text     *string         `json:"text"`
}

// chain returns the part of the id within which ordinals hold: its first two parts, or for
// manifests, which are named by files, all but the last.
func (s *step) chain() string {
	if strings.HasPrefix(s.ID, "manifests/") {
		return s.ID[:strings.LastIndexByte(s.ID, '/')]
	}
	parts := strings.SplitN(s.ID, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// load reads the recordings of an area.
func load(t *testing.T, area string) []step {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", area+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(unpacked)
	var steps []step
	for decoder := json.NewDecoder(lines); decoder.More(); {
		var s step
		if err := decoder.Decode(&s); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}
