package activity

import (
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/miniapi/miniapi/api/request"
)

const (
	// maxSeries limits the combinations of client, verb and resource that are kept. The one whose
	// last request is the oldest is evicted first.
	maxSeries = 512
	// maxText limits the bytes that are kept of each text that a client sends.
	maxText = 512
	// periodSeconds is the length of the period of Request.LastPeriod.
	periodSeconds = 10
)

// Statistics counts the requests of a server. Safe for concurrent use.
type Statistics struct {
	mu     sync.Mutex // guards series
	series map[seriesKey]*series
}

// NewStatistics returns statistics without requests. It starts nothing.
func NewStatistics() *Statistics { return &Statistics{series: map[seriesKey]*series{}} }

// seriesKey identifies a series of requests.
type seriesKey struct{ userAgent, verb, group, name, subresource string }

// resource returns the resource as RBAC names it, or the path.
func (k seriesKey) resource() string {
	r := request.Record{Group: k.group, Resource: k.name, Subresource: k.subresource}
	return r.GroupResource()
}

// series counts the requests with one key. The mutex of the Statistics guards it.
type series struct {
	first, last              time.Time
	count, conflicts, errors int64
	recent                   recent
	durations                histogram
	slowest, lastError       *request.Record
}

// Observe counts a request that is complete. It is a requestlog.Config.Observe.
func (s *Statistics) Observe(r *request.Record) {
	key := keyOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	counted := s.series[key]
	if counted == nil {
		if len(s.series) >= maxSeries {
			s.evict()
		}
		counted = &series{first: r.Time}
		s.series[key] = counted
	}
	counted.add(r)
}

// evict removes the series whose last request is the oldest. It requires mu.
func (s *Statistics) evict() {
	var oldest seriesKey
	var last time.Time
	for key, series := range s.series {
		if last.IsZero() || series.last.Before(last) {
			oldest, last = key, series.last
		}
	}
	delete(s.series, oldest)
}

func keyOf(r *request.Record) seriesKey {
	key := seriesKey{
		userAgent: limited(r.UserAgent), verb: limited(r.Verb),
		group: limited(r.Group), name: limited(r.Resource), subresource: limited(r.Subresource),
	}
	if key.name == "" { // the first segment of a path that names no resource
		path, _, _ := strings.Cut(r.URI, "?")
		segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		key.name = "/" + limited(segment)
	}
	return key
}

func limited(text string) string { return text[:min(len(text), maxText)] }

func (s *series) add(r *request.Record) {
	end := r.Time.Add(r.Duration)
	s.count++
	s.last = end
	s.recent.add(end)
	if r.Code == http.StatusConflict {
		s.conflicts++
	}
	if r.Code >= http.StatusBadRequest || r.Code == 0 {
		s.errors++
		s.lastError = excerpt(r)
	}
	if r.Verb == "watch" || r.Code == http.StatusSwitchingProtocols {
		return // the client determines the duration
	}
	s.durations.add(r.Duration)
	if s.slowest == nil || r.Duration > s.slowest.Duration {
		s.slowest = excerpt(r)
	}
}

// excerpt returns the part of a record that an Example needs.
func excerpt(r *request.Record) *request.Record {
	return &request.Record{
		Time: r.Time, Duration: r.Duration, Method: r.Method, URI: limited(r.URI), Code: r.Code, Reason: r.Reason, AuditID: r.AuditID,
	}
}

// recent counts the requests of the last seconds.
type recent struct {
	counts [periodSeconds]int64
	second int64 // the latest second of counts
}

func (r *recent) add(t time.Time) {
	r.advance(t.Unix())
	r.counts[r.second%periodSeconds]++
}

func (r *recent) sum(now time.Time) int64 {
	r.advance(now.Unix())
	var sum int64
	for _, count := range r.counts {
		sum += count
	}
	return sum
}

// advance clears the counts that are older than the period.
func (r *recent) advance(second int64) {
	for skipped := min(second-r.second, periodSeconds); skipped > 0; skipped-- {
		r.counts[(second-skipped+1)%periodSeconds] = 0
	}
	r.second = max(r.second, second)
}

// histogram counts durations in buckets whose bounds grow by 10 %.
type histogram struct {
	buckets [180]uint32
	count   int64
	longest time.Duration
}

const (
	// firstBound is the upper bound of the first bucket. The last bucket has all durations above 20
	// minutes.
	firstBound = 50 * time.Microsecond
	growth     = 1.1
)

func (h *histogram) add(d time.Duration) {
	bucket := 0
	if d > firstBound {
		bucket = int(math.Ceil(math.Log(float64(d)/float64(firstBound)) / math.Log(growth)))
	}
	h.buckets[min(bucket, len(h.buckets)-1)]++
	h.count++
	h.longest = max(h.longest, d)
}

func (h *histogram) latency() Latency {
	return Latency{P50: h.percentile(50), P90: h.percentile(90), P99: h.percentile(99), Max: h.longest.Microseconds()}
}

// percentile returns the upper bound of the bucket with the percentile, in microseconds.
func (h *histogram) percentile(percent int64) int64 {
	rank := (h.count*percent + 99) / 100
	bound := float64(firstBound)
	for _, n := range h.buckets {
		if rank -= int64(n); rank <= 0 {
			break
		}
		bound *= growth
	}
	return min(time.Duration(bound), h.longest).Microseconds()
}
