package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// measured is what a request is counted as.
type measured struct {
	target
	scope  string
	verb   string
	dryRun string
}

// measureRequests is the middleware of metrics.
func (s *Server) measureRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := s.measuredAs(r)
		recorded := &response{ResponseWriter: w}
		gauge := s.metrics.inFlight.WithLabelValues(requestKind(r.Method))
		if m.longRunning() {
			gauge = s.metrics.longRunning.WithLabelValues(m.labels()...)
		}
		started := time.Now()
		gauge.Inc()
		defer func() {
			gauge.Dec()
			s.metrics.done(m, recorded, time.Since(started))
		}()
		next.ServeHTTP(recorded, r)
	})
}

// done counts a request at its end. How long a watch lasted says nothing about
// the server, so its duration is not observed.
func (m *metrics) done(q measured, w *response, took time.Duration) {
	labels := q.labels()
	if q.verb == "GET" || q.verb == "LIST" {
		m.responseSizes.WithLabelValues(labels...).Observe(float64(w.bytes))
	}
	labels = append(labels, q.dryRun)
	if !q.longRunning() {
		m.durations.WithLabelValues(labels...).Observe(took.Seconds())
	}
	m.requests.WithLabelValues(append(labels, strconv.Itoa(max(w.status, http.StatusOK)))...).Inc()
}

// labels are the values of requestLabels.
func (q measured) labels() []string {
	// Room for what some metrics add.
	return append(make([]string, 0, len(codeLabels)),
		q.Group, q.Version, q.Resource, q.Subresource, q.scope, "apiserver", q.verb)
}

func (q measured) longRunning() bool { return q.verb == "WATCH" || q.verb == "CONNECT" }

func requestKind(method string) string {
	if method == http.MethodGet || method == http.MethodHead {
		return "readOnly"
	}
	return "mutating"
}

// measuredAs finds out what a request is counted as. Names come from the
// catalog, never from the URL: clients must not make up label values.
func (s *Server) measuredAs(r *http.Request) measured {
	other := measured{verb: methodVerb(r.Method)}
	t := infoOf(r).target
	if t.Form != resourcePath || t.Empty {
		return other
	}
	store, ok := s.config.Catalog.Snapshot().Store(schema.GroupResource{Group: t.Group, Resource: t.Resource})
	if !ok {
		return other
	}
	resource := store.Resource()
	sub, known := resource.Subresource(t.Subresource)
	_, served := resource.Version(t.Version)
	if !served || (t.Subresource != "" && !known) {
		return other
	}
	q := measured{target: t, scope: scopeOf(r, t), verb: verbOf(r, t, resource, sub)}
	if r.URL.Query().Has("dryRun") {
		q.dryRun = "All"
	}
	return q
}

// scopeOf tells whether a request is about one object, a namespace or
// everything.
func scopeOf(r *http.Request, t target) string {
	switch {
	case t.Name != "" || r.Method == http.MethodPost:
		return "resource"
	case t.InNamespace:
		return "namespace"
	}
	return "cluster"
}

func verbOf(r *http.Request, t target, resource *registry.Resource, sub *registry.Subresource) string {
	verb := methodVerb(r.Method)
	switch {
	case sub != nil && sub.Connect != nil:
		return "CONNECT"
	case verb == "GET" && infoOf(r).Verb == "watch":
		return "WATCH"
	case verb == "GET" && t.Name == "":
		return "LIST"
	case verb == "DELETE" && t.Name == "":
		return "DELETECOLLECTION"
	case verb == "PATCH" && strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch"):
		return "APPLY"
	}
	return verb
}

// methodVerb keeps methods that nobody knows from becoming label values.
func methodVerb(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method
	case http.MethodHead:
		return http.MethodGet
	}
	return "other"
}
