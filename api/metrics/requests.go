package metrics

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// component is the label value of all requests except health checks.
const component = "apiserver"

// healthPaths are the paths that have metrics of their own, as in kube-apiserver.
var healthPaths = []string{"/healthz", "/livez", "/readyz"}

// Observation measures one request.
type Observation struct {
	metrics *Metrics
	gauge   prometheus.Gauge // counts the request while it is in flight
	started time.Time

	// The values of codeLabels, without code.
	group, version, resource, subresource, scope, component, verb, dryRun string
}

// Begin starts the observation of a request. The caller must call End.
func (m *Metrics) Begin(r *http.Request) Observation {
	o := m.classify(r)
	o.metrics, o.started = m, time.Now()
	if o.isLongRunning() {
		o.gauge = m.longRunning.WithLabelValues(o.labels()...)
	} else {
		o.gauge = m.inFlight.WithLabelValues(requestKind(r.Method))
	}
	o.gauge.Inc()
	return o
}

// End observes a request whose response has the given status code and size. A status of 0 counts
// as 200. As in kube-apiserver, watches count for all metrics except sliDurations.
func (o *Observation) End(status int, bytes int64) {
	took := time.Since(o.started).Seconds()
	o.gauge.Dec()
	labels := o.labels()
	if o.verb == "GET" || o.verb == "LIST" || o.verb == "WATCH" {
		o.metrics.responseSizes.WithLabelValues(labels...).Observe(float64(bytes))
	}
	if o.verb != "WATCH" && o.dryRun == "" {
		o.metrics.sliDurations.WithLabelValues(labels...).Observe(took)
	}
	labels = append(labels, o.dryRun)
	o.metrics.durations.WithLabelValues(labels...).Observe(took)
	o.metrics.requests.WithLabelValues(append(labels, strconv.Itoa(max(status, http.StatusOK)))...).Inc()
}

// Terminate counts a request that the server ends in self-defense, with the status code. As in
// kube-apiserver, subresource is the path of a request that names no resource.
func (m *Metrics) Terminate(r *http.Request, code int) {
	o := m.classify(r)
	o.component = component
	if info := request.InfoFrom(r); info.Form != request.ResourcePath || info.Empty {
		o.subresource = m.paths.label(info.Path)
	}
	m.terminations.WithLabelValues(append(o.labels(), strconv.Itoa(code))...).Inc()
}

// maxPaths bounds the label values that are paths, because clients choose them.
const maxPaths = 100

// pathLabels holds the paths that are label values. Safe for concurrent use.
type pathLabels struct {
	mu    sync.Mutex // guards paths
	paths map[string]bool
}

// label returns the label value of a path, which is "" for more than maxPaths paths.
func (p *pathLabels) label(path string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.paths[path] {
		if len(p.paths) >= maxPaths {
			return ""
		}
		if p.paths == nil {
			p.paths = map[string]bool{}
		}
		p.paths[path] = true
	}
	return path
}

// labels returns the values of requestLabels, with capacity for the values of codeLabels.
func (o *Observation) labels() []string {
	return append(make([]string, 0, len(codeLabels)),
		o.group, o.version, o.resource, o.subresource, o.scope, o.component, o.verb)
}

func (o *Observation) isLongRunning() bool { return o.verb == "WATCH" || o.verb == "CONNECT" }

func requestKind(method string) string {
	if method == http.MethodGet || method == http.MethodHead {
		return "readOnly"
	}
	return "mutating"
}

// classify returns an Observation with the label values of a request. Only names from the catalog
// become label values, so that clients cannot create metrics.
func (m *Metrics) classify(r *http.Request) Observation {
	unknown := Observation{verb: methodVerb(r.Method), component: component}
	info := request.InfoFrom(r)
	if slices.Contains(healthPaths, info.Path) {
		return Observation{verb: methodVerb(r.Method), subresource: info.Path}
	}
	if info.Form != request.ResourcePath || info.Empty {
		return unknown
	}
	served, ok := m.catalog.Snapshot().Served(schema.GroupVersionResource{Group: info.Group, Version: info.Version, Resource: info.Resource})
	if !ok {
		return unknown
	}
	sub, known := served.Resource().Subresource(info.Subresource)
	if info.Subresource != "" && !known {
		return unknown
	}
	o := Observation{
		group: info.Group, version: info.Version, resource: info.Resource, subresource: info.Subresource,
		scope: scopeOf(r, info), component: component, verb: verbOf(r, info, sub),
	}
	if values, ok := r.URL.Query()["dryRun"]; ok {
		o.dryRun = dryRunOf(values)
	}
	return o
}

// dryRunOf returns the label value of a dry run.
func dryRunOf(values []string) string {
	if slices.ContainsFunc(values, func(value string) bool { return value != metav1.DryRunAll }) {
		return "invalid"
	}
	return metav1.DryRunAll
}

func scopeOf(r *http.Request, info *request.Info) string {
	switch {
	case info.Name != "" || r.Method == http.MethodPost:
		return "resource"
	case info.InNamespace:
		return "namespace"
	}
	return "cluster"
}

// verbOf returns the verb of a request for a resource. As in kube-apiserver, the deletion of a
// collection differs from other deletions by its scope only.
func verbOf(r *http.Request, info *request.Info, sub *registry.Subresource) string {
	verb := methodVerb(r.Method)
	switch {
	case sub != nil && sub.Connect != nil:
		return "CONNECT"
	case verb == "GET" && info.Verb == "watch":
		return "WATCH"
	case verb == "GET" && info.Name == "":
		return "LIST"
	case verb == "PATCH" && r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType):
		return "APPLY"
	}
	return verb
}

// methodVerb returns the label value of a method. All unknown methods share one.
func methodVerb(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method
	case http.MethodHead:
		return http.MethodGet
	}
	return "other"
}
