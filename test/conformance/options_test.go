package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/miniapi/miniapi"
)

// TestReplayOptions replays reads of ConfigMaps with combinations of
// resourceVersion, resourceVersionMatch, limit, continue, selectors and the
// options of watches, after writes which the recording begins with. The watch
// cache and the storage behind it must give the same answers.
//
// An answer is recorded in short: an object as "name RV", a list as its items
// and metadata, a watch as its events without the bookmarks that a timer sends.
// TOKEN(RV,start) stands for a continue token of that content, LRV for the
// current revision.
func TestReplayOptions(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(t *testing.T, release string) *replay
	}{
		{"cached", newQuietReplay},
		{"uncached", newUncachedReplay},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &optionsReplay{replay: c.start(t, latest), known: readDifferences(t, latest), watches: map[string]*http.Response{}}
			r.run()
			r.known.stale(t, "options/", r.differing)
			r.known.write(t)
			t.Logf("%d as recorded, %d differ", r.same, len(r.differing))
		})
	}
}

// newQuietReplay replays to a server that writes nothing of its own, such as the identity lease of
// the full bootstrap, so that the current revision stays.
func newQuietReplay(t *testing.T, release string) *replay {
	t.Helper()
	return newReplayWith(t, miniapi.Config{EmulatedVersion: release})
}

// optionsReplay is the state of one replay.
type optionsReplay struct {
	*replay
	known *differences
	// current is the revision after the recorded writes.
	current string
	// watches have begun, and their events are not read yet. Keys are ids.
	watches map[string]*http.Response
}

func (r *optionsReplay) run() {
	r.t.Helper()
	r.bound = bindings{}
	r.namespace("x-options")
	steps := load(r.t, latest, "options")
	for _, s := range steps {
		if s.Method == http.MethodGet && r.current == "" {
			r.current = r.currentRevision()
		}
		answer := r.open(&s)
		if answer.StatusCode == http.StatusOK && isWatch(&s) {
			r.watches[s.ID] = answer
		} else {
			r.compareShort(&s, answer)
		}
	}
	r.must("PATCH", "/api/v1/namespaces/x-options/configmaps/o3", "application/merge-patch+json", lastWrite)
	for _, s := range steps {
		if answer, ok := r.watches[s.ID]; ok {
			r.compareWith(&s, answer.StatusCode, r.eventsBeforeLast(&s, answer))
		}
	}
}

// open sends a request and leaves the answer's body unread.
func (r *optionsReplay) open(s *step) *http.Response {
	r.t.Helper()
	var body io.Reader
	if s.Req != nil {
		body = strings.NewReader(*s.Req)
	}
	path := s.Path
	if isWatch(s) && !isAhead(s) { // it is read up to the last write
		path = withLongTimeout(path)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), s.Method, r.url+r.fillTokens(path), body)
	if err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	maps.Copy(req.Header, s.ReqHeader)
	answer, err := r.client.Do(req)
	if err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	return answer
}

var recordedToken = regexp.MustCompile(`TOKEN\((.*?),(.*?)\)`)

// fillTokens puts this run's versions and tokens into a URL.
func (r *optionsReplay) fillTokens(path string) string {
	return recordedToken.ReplaceAllStringFunc(r.bound.fill(path), func(token string) string {
		part := recordedToken.FindStringSubmatch(token)
		start := part[2]
		if start != "" {
			start += `\u0000`
		}
		return base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":` + part[1] + `,"start":"` + start + `"}`))
	})
}

// compareShort compares the answer to anything but a watch that has begun.
func (r *optionsReplay) compareShort(s *step, answer *http.Response) {
	r.t.Helper()
	defer answer.Body.Close()
	var body map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	if len(s.Body) == 0 { // a write that matters for its revision only
		r.compareWith(s, answer.StatusCode, nil)
		return
	}
	r.compareWith(s, answer.StatusCode, shortForm(body))
}

func (r *optionsReplay) compareWith(s *step, status int, got any) {
	r.t.Helper()
	var want any
	if len(s.Body) > 0 {
		if err := json.Unmarshal(bytes.ReplaceAll(s.Body, []byte("LRV"), []byte(r.current)), &want); err != nil {
			r.t.Fatalf("%s: %v", s.ID, err)
		}
	}
	m := &matcher{bound: r.bound}
	if status != s.Status {
		m.differ("status", "want %d, got %d", s.Status, status)
	}
	m.match("body", want, got)
	if len(m.found) == 0 {
		r.same++
		return
	}
	r.differing = append(r.differing, s.ID)
	r.known.check(r.t, s.ID, m.found)
}
