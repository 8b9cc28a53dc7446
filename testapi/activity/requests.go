package activity

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// Request summarizes the requests of a client with the same verb and resource. It is the content of
// the resource requests.miniapi.dev; metadata.creationTimestamp is the time of the first request. A
// watch is counted when it ends, without its duration.
type Request struct {
	UserAgent string `json:"userAgent,omitempty" doc:"The header User-Agent of the requests."`
	Verb      string `json:"verb" doc:"The verb of authorization, such as list or patch."`
	Resource  string `json:"resource" doc:"The resource and subresource, such as deployments.apps/status, or the first segment of another path."`

	Count      int64   `json:"count" doc:"The number of requests."`
	LastPeriod int64   `json:"lastTenSeconds" doc:"The number of requests that ended in the last ten seconds."`
	Conflicts  int64   `json:"conflicts" doc:"The number of requests with the code 409."`
	Errors     int64   `json:"errors" doc:"The number of requests with a code of 400 or more, conflicts included, or without an answer."`
	Durations  Latency `json:"microseconds" doc:"The durations in microseconds, since the first request."`
	Slowest    Example `json:"slowest" doc:"The slowest request."`
	LastError  Example `json:"lastError" doc:"The last request with an error; the time is empty if there is none."`
}

// Latency has durations in microseconds. The percentiles are exact to 10 %.
type Latency struct {
	P50 int64 `json:"p50" doc:"The duration that half of the requests did not exceed."`
	P90 int64 `json:"p90" doc:"The duration that 90 % of the requests did not exceed."`
	P99 int64 `json:"p99" doc:"The duration that 99 % of the requests did not exceed."`
	Max int64 `json:"max" doc:"The longest duration."`
}

// Example is one request.
type Example struct {
	Time         string `json:"time,omitempty" doc:"The time of arrival."`
	Microseconds int64  `json:"microseconds,omitempty" doc:"The duration."`
	Method       string `json:"method,omitempty" doc:"The method."`
	URI          string `json:"uri,omitempty" doc:"The path and the query."`
	Code         int64  `json:"code,omitempty" doc:"The status code, 0 without an answer."`
	Reason       string `json:"reason,omitempty" doc:"The reason of the Status."`
	RequestID    string `json:"requestID,omitempty" doc:"The header Audit-Id."`
}

// Requests returns the resource requests.miniapi.dev.
func Requests(s *Statistics) *registry.Resource {
	millis := func(microseconds int64) string { return fmt.Sprintf("%.1fms", float64(microseconds)/1000) }
	return definition[Request]{
		name: "requests", singular: "request", kind: "Request",
		description: "Request summarizes the requests of a client with the same verb and resource.",
		columns: []column[Request]{
			{"Client", "string", "The client, by its user agent.", func(_ metav1.ObjectMeta, r *Request) any { return product(r.UserAgent, "unknown") }},
			{"Verb", "string", "The verb.", func(_ metav1.ObjectMeta, r *Request) any { return r.Verb }},
			{"Resource", "string", "The resource.", func(_ metav1.ObjectMeta, r *Request) any { return r.Resource }},
			{"Count", "integer", "The number of requests.", func(_ metav1.ObjectMeta, r *Request) any { return r.Count }},
			{"Rate", "string", "The requests per second, in the last ten seconds.", func(_ metav1.ObjectMeta, r *Request) any {
				return fmt.Sprintf("%.1f/s", float64(r.LastPeriod)/periodSeconds)
			}},
			{"Conflicts", "integer", "The number of conflicts.", func(_ metav1.ObjectMeta, r *Request) any { return r.Conflicts }},
			{"Errors", "integer", "The number of errors, conflicts included.", func(_ metav1.ObjectMeta, r *Request) any { return r.Errors }},
			{"P50", "string", "The median of the durations.", func(_ metav1.ObjectMeta, r *Request) any { return millis(r.Durations.P50) }},
			{"P99", "string", "The 99th percentile of the durations.", func(_ metav1.ObjectMeta, r *Request) any { return millis(r.Durations.P99) }},
			{"Max", "string", "The longest duration.", func(_ metav1.ObjectMeta, r *Request) any { return millis(r.Durations.Max) }},
		},
		list: func(context.Context) ([]object[Request], error) { return s.objects(time.Now()), nil },
	}.resource()
}

// objects returns the summaries in the order of client, verb and resource.
func (s *Statistics) objects(now time.Time) []object[Request] {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]object[Request], 0, len(s.series))
	for key, series := range s.series {
		o := object[Request]{content: series.summary(key, now)}
		o.Name, o.CreationTimestamp = key.objectName(), metav1.NewTime(series.first)
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b object[Request]) int {
		return cmp.Or(cmp.Compare(a.content.UserAgent, b.content.UserAgent), cmp.Compare(a.content.Verb, b.content.Verb), cmp.Compare(a.content.Resource, b.content.Resource))
	})
	return list
}

func (s *series) summary(key seriesKey, now time.Time) *Request {
	return &Request{
		UserAgent: key.userAgent, Verb: key.verb, Resource: key.resource(),
		Count: s.count, LastPeriod: s.recent.sum(now), Conflicts: s.conflicts, Errors: s.errors,
		Durations: s.durations.latency(), Slowest: example(s.slowest), LastError: example(s.lastError),
	}
}

func example(r *request.Record) Example {
	if r == nil {
		return Example{}
	}
	return Example{
		Time: r.Time.UTC().Format(timeFormat), Microseconds: r.Duration.Microseconds(), Method: r.Method, URI: r.URI,
		Code: int64(r.Code), Reason: r.Reason, RequestID: r.AuditID,
	}
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// objectName returns a name that is unique for the key and valid for an object.
func (k seriesKey) objectName() string {
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%q", []string{k.userAgent, k.verb, k.resource()})
	name := strings.ToLower(product(k.userAgent, "unknown") + "-" + k.verb)
	valid := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
	return fmt.Sprintf("%s-%08x", cmp.Or(strings.Trim(valid[:min(len(valid), 60)], "-"), "client"), hash.Sum32())
}

// product returns the product of a user agent, or another name of the client if it has none.
func product(userAgent, other string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	return cmp.Or(name, other)
}
