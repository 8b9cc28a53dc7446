package conformance

import (
	"bufio"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

const watched = "/api/v1/namespaces/x-watch/configmaps"

// TestReplayWatch repeats the writes of the recorder, which are not in the recording, and compares
// the events of each watch with the recorded ones.
func TestReplayWatch(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) { replayWatch(t, release) })
	}
}

func replayWatch(t *testing.T, release string) {
	known := readDifferences(t, release)
	r := newReplay(t, release)
	r.namespace("x-watch")
	from := ""
	for _, s := range load(t, release, "watch") {
		if chain := s.chain(); chain != r.chain {
			r.chain, r.bound = chain, bindings{}
			from = r.currentRevision()
			r.writes(strings.TrimPrefix(chain, "watch/"))
		}
		s.Path = strings.Replace(s.Path, "resourceVersion=RV", "resourceVersion="+from, 1)
		r.watch(&s, known)
		if s.ID == "watch/from the past/events" {
			r.putWatched("w1", `"data":{"a":"1"}`)
			r.putWatched("w2", `"data":{"a":"1"}`)
		}
	}
	known.stale(t, "watch/", r.differing)
	known.write(t)
}

// writes sends the writes of a chain.
func (r *replay) writes(chain string) {
	r.t.Helper()
	merge := func(name, patch string) {
		r.must("PATCH", watched+"/"+name, "application/merge-patch+json", patch)
	}
	remove := func(name string) { r.must("DELETE", watched+name, "application/json", "{}") }
	switch chain {
	case "noop writes no event":
		r.putWatched("w1", `"data":{"a":"1"}`)
		merge("w1", `{"data":{"a":"1"}}`)
		merge("w1", `{"data":{"a":"2"}}`)
		merge("w1", `{"data":{"a":"2"}}`)
		remove("/w1")
	case "finalizer":
		r.create(watched, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w1","finalizers":["exam.io/f"]}}`)
		remove("/w1")
		merge("w1", `{"metadata":{"finalizers":null}}`)
	case "deletecollection":
		r.create(watched, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w1","labels":{"dc":"1"}}}`)
		r.create(watched, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w2","labels":{"dc":"1"}}}`)
		remove("?labelSelector=dc%3D1")
	default:
		r.create(watched, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w1","labels":{"l":"x"}},"data":{"a":"1"}}`)
		merge("w1", `{"data":{"a":"2"}}`)
		r.putWatched("w2", `"immutable":null`)
		merge("w1", `{"metadata":{"labels":{"l":"y"}}}`)
		remove("/w1")
		remove("/w2")
	}
}

func (r *replay) putWatched(name, rest string) {
	r.t.Helper()
	r.create(watched, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`"},`+rest+`}`)
}

// watch compares as many events as were recorded.
func (r *replay) watch(s *step, known *differences) {
	r.t.Helper()
	var want struct {
		Ended  string
		Events []any
	}
	if err := json.Unmarshal(s.Body, &want); err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	var found []difference
	if s.Status == http.StatusOK {
		found = r.compareEvents(s, want.Events, want.Ended == "closed")
	} else {
		plain := *s
		plain.Method = http.MethodGet
		found = r.compare(&plain, r.send(&plain))
	}
	if len(found) > 0 {
		r.differing = append(r.differing, s.ID)
		known.check(r.t, s.ID, found)
	}
}

var watchTimeout = regexp.MustCompile(`timeoutSeconds=\d+`)

// withLongTimeout replaces the timeout of a watch that is not read up to its end: the timeout also
// decides when the first bookmark is sent.
func withLongTimeout(path string) string {
	return watchTimeout.ReplaceAllString(path, "timeoutSeconds=600")
}

func (r *replay) compareEvents(s *step, want []any, closed bool) []difference {
	r.t.Helper()
	path := s.Path
	if !closed {
		path = withLongTimeout(path)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header = s.ReqHeader
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if s.ID == "watch/from the past/initial events false" {
		r.must("DELETE", watched+"/w2", "application/json", "{}")
	}
	m := &matcher{bound: r.bound}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for _, event := range want {
		var got any
		if !lines.Scan() {
			m.differ("events", "want another event, the stream ended: %v", event)
			break
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			r.t.Fatalf("%s: %v: %s", s.ID, err, lines.Bytes())
		}
		m.match("event", event, got)
	}
	if closed && lines.Scan() {
		m.differ("events", "want the end of the stream, got %s", lines.Bytes())
	}
	return m.found
}
