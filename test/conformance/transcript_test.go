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
	ReqHeader map[string][]string `json:"reqHeader,omitempty"`
	Req       *string             `json:"req,omitempty"`

	Status   int             `json:"status"`
	Header   string          `json:"header,omitempty"` // Content-Type
	Warnings []string        `json:"warnings,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
	Text     *string         `json:"text,omitempty"`
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

// The recorded releases. The recordings of the oldest one are complete. A folder of testdata has
// the steps of the other release that differ.
const oldest, latest = "1.36", "1.37"

var releases = []string{oldest, latest}

// load reads the recordings of an area.
func load(t *testing.T, release, area string) []step {
	t.Helper()
	steps := readSteps(t, filepath.Join("testdata", area+".jsonl.gz"))
	if release == oldest {
		return steps
	}
	changed := map[string]step{}
	for _, s := range readSteps(t, filepath.Join("testdata", "v"+release, area+".jsonl.gz")) {
		changed[s.ID] = s
	}
	for i := range steps {
		if s, ok := changed[steps[i].ID]; ok {
			steps[i] = s
		}
	}
	return steps
}

// readSteps returns the steps of a file, none if it does not exist.
func readSteps(t *testing.T, file string) []step {
	t.Helper()
	packed, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
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
