package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var recordings = flag.String("recordings", "", "folder with AREA.jsonl.gz of kube-apiserver v1.37; TestRecordings writes the steps that differ from v1.36")

// TestRecordings checks that testdata/v1.37 has only steps of the recordings of v1.36, and only if
// their responses differ. With -recordings it first writes these files from complete recordings.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	total := 0
	for _, file := range files {
		name := filepath.Base(file)
		base := map[string]step{}
		for _, s := range readSteps(t, file) {
			base[s.ID] = s
		}
		overlay := filepath.Join("testdata", "v"+latest, name)
		if *recordings != "" {
			if steps := changedSteps(base, readSteps(t, filepath.Join(*recordings, name))); len(steps) > 0 {
				writeSteps(t, overlay, steps)
			}
		}
		steps := readSteps(t, overlay)
		total += len(steps)
		for _, s := range steps {
			if old, ok := base[s.ID]; !ok || sameResponse(old, s) {
				t.Errorf("%s: step %s is unknown in v%s or has the same response there", overlay, s.ID, oldest)
			}
		}
	}
	if total == 0 {
		t.Errorf("no step of v%s", latest)
	}
}

// changedSteps returns the steps whose responses are not in base. A request that the recording
// abridges is the request of base.
func changedSteps(base map[string]step, recorded []step) []step {
	var changed []step
	for _, s := range recorded {
		if old, ok := base[s.ID]; ok && !sameResponse(old, s) {
			if isAbridged(&s) || isCut(&s) {
				s.Req = old.Req
			}
			changed = append(changed, s)
		}
	}
	return changed
}

// isCut reports whether the recording has only the beginning of the request body.
func isCut(s *step) bool {
	const length = 600
	return s.Req != nil && len([]rune(*s.Req)) == length+len("...") && strings.HasSuffix(*s.Req, "...")
}

func sameResponse(a, b step) bool {
	return a.Status == b.Status && a.Header == b.Header && reflect.DeepEqual(a.Warnings, b.Warnings) &&
		bytes.Equal(a.Body, b.Body) && reflect.DeepEqual(a.Text, b.Text)
}

func writeSteps(t *testing.T, file string, steps []step) {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, s := range steps {
		if err := encoder.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
