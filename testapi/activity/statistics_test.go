package activity

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/miniapi/miniapi/api/request"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func record(agent, verb string, code int, took time.Duration) *request.Record {
	return &request.Record{Time: noon, UserAgent: agent, Verb: verb, Resource: "pods", Code: code, Duration: took, URI: "/api/v1/pods"}
}

func TestRequestsAreSummedByClientVerbAndResource(t *testing.T) {
	s := NewStatistics()
	for range 98 {
		s.Observe(record("a/1", "update", 200, time.Millisecond))
	}
	s.Observe(record("a/1", "update", 409, 2*time.Millisecond))
	s.Observe(record("a/1", "update", 0, 50*time.Millisecond))
	ended := record("a/1", "watch", 200, time.Hour)
	ended.Time = noon.Add(-time.Hour)
	s.Observe(ended)
	s.Observe(&request.Record{Time: noon, Verb: "get", URI: "/openapi/v3/apis?x=y", Code: 404})
	var got []string
	for _, o := range s.objects(noon.Add(time.Second)) {
		r := o.content
		got = append(got, fmt.Sprintf("%s %s %s count %d last %d conflicts %d errors %d max %d slowest %d last error %d", r.UserAgent, r.Verb, r.Resource,
			r.Count, r.LastPeriod, r.Conflicts, r.Errors, r.Durations.Max, r.Slowest.Microseconds, r.LastError.Code))
		if r.Verb == "update" && (r.Durations.P50 < 1000 || r.Durations.P50 > 1100 || r.Durations.P99 < 2000 || r.Durations.P99 > 2200) {
			t.Errorf("durations %+v", r.Durations)
		}
	}
	want := []string{
		" get /openapi count 1 last 1 conflicts 0 errors 1 max 0 slowest 0 last error 404",
		"a/1 update pods count 100 last 100 conflicts 1 errors 2 max 50000 slowest 50000 last error 0",
		"a/1 watch pods count 1 last 1 conflicts 0 errors 0 max 0 slowest 0 last error 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRateForgetsOldRequests(t *testing.T) {
	var r recent
	for second := range 30 {
		r.add(noon.Add(time.Duration(second) * time.Second))
	}
	for seconds, want := range map[int]int64{29: 10, 34: 5, 39: 0, 1000: 0} {
		counts := r
		if got := counts.sum(noon.Add(time.Duration(seconds) * time.Second)); got != want {
			t.Errorf("after %d seconds: %d requests, want %d", seconds, got, want)
		}
	}
}

func TestSeriesAreLimited(t *testing.T) {
	s := NewStatistics()
	for i := range 2 * maxSeries {
		r := record(fmt.Sprint("agent", i), "get", 200, time.Millisecond)
		r.Time = noon.Add(time.Duration(i) * time.Second)
		s.Observe(r)
	}
	if len(s.series) != maxSeries {
		t.Errorf("%d series", len(s.series))
	}
	if s.series[keyOf(record(fmt.Sprint("agent", 2*maxSeries-1), "get", 200, 0))] == nil {
		t.Error("the latest series was evicted")
	}
}

func TestNamesAreValid(t *testing.T) {
	for _, agent := range []string{"", "a/b", "Größe/1", "<script>", "-.-", string(make([]byte, 300))} {
		name := keyOf(record(agent, "get", 200, 0)).objectName()
		if errs := validation.IsDNS1123Subdomain(name); errs != nil {
			t.Errorf("%q: %s: %v", agent, name, errs)
		}
	}
}

func TestKeysOfSeriesAreLimited(t *testing.T) {
	s := NewStatistics()
	long := strings.Repeat("x", 2*maxText)
	s.Observe(&request.Record{Time: noon, UserAgent: long, Verb: long, Group: long, Resource: long, Subresource: long})
	for key := range s.series {
		for _, text := range []string{key.userAgent, key.verb, key.group, key.name, key.subresource} {
			if len(text) != maxText {
				t.Errorf("a text has %d bytes, want %d", len(text), maxText)
			}
		}
	}
}
