package request

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/api/audit"
)

// Info holds the attributes of a request. It is parsed once from the method, path and query, by
// kube-apiserver's rules. Authorization, limits, metrics, dispatch and the proxy to other servers
// use it.
type Info struct {
	Target
	// Path is the decoded path.
	Path string
	// Verb is the verb of authorization. If the path names no resource it is the method in lower
	// case. There is no verb connect: the verb of a stream follows from its method.
	Verb string
	// SelectedName is the object name that the field selector of a list or watch requires, or "".
	SelectedName string
	// Record receives the outcome of the request. Nil: the request is not recorded.
	Record *Record
	// Audit is the event of the request in the audit log. Nil: the request is not in the log.
	Audit *audit.Event
	// Injection is the failure that is injected into the request. Nil: none.
	Injection *Injection
	// Initialized is called when a watch has sent the events that were ready at its start, or is
	// forwarded. It may be called several times. Nil for other requests.
	Initialized func()

	watch     atomic.Pointer[Watch]
	forwarded atomic.Bool
}

type infoKey struct{}

// WithInfo returns a context that carries info.
func WithInfo(ctx context.Context, info *Info) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// InfoOf returns the Info in a context, nil if the context is not of a request.
func InfoOf(ctx context.Context) *Info {
	info, _ := ctx.Value(infoKey{}).(*Info)
	return info
}

// AuditFrom returns the event of the request with this context in the audit log, nil if the request
// is not in the log.
func AuditFrom(ctx context.Context) *audit.Event {
	if info := InfoOf(ctx); info != nil {
		return info.Audit
	}
	return nil
}

// InfoFrom returns the Info in the context of r. It parses r if there is none.
func InfoFrom(r *http.Request) *Info {
	if info := InfoOf(r.Context()); info != nil {
		return info
	}
	return NewInfo(r)
}

// NewInfo parses a request. namespaceSubresources are the added subresources of ParseTarget.
func NewInfo(r *http.Request, namespaceSubresources ...string) *Info {
	info := &Info{Target: ParseTarget(r.URL.Path, namespaceSubresources...), Path: r.URL.Path}
	if info.Form != ResourcePath {
		info.Verb = strings.ToLower(r.Method)
		return info
	}
	if info.Verb = info.Prefix; info.Verb == "" {
		info.Verb = verbOf(r, info.Name)
	}
	if info.Prefix == "" && info.Name == "" && (info.Verb == "list" || info.Verb == "watch") {
		info.SelectedName = selectedName(r)
	}
	return info
}

// IsLongRunning reports whether the request may stay open for hours, as a watch does. The duration
// of a profile is a parameter of its request.
func (i *Info) IsLongRunning() bool {
	return i.Verb == "watch" || i.Verb == "proxy" ||
		slices.Contains([]string{"attach", "exec", "proxy", "log", "portforward"}, i.Subresource) ||
		i.Form != ResourcePath && strings.HasPrefix(i.Path, "/debug/pprof/")
}

// verbOf returns the verb of a request for a resource. name is the object's name, "" for a
// collection.
func verbOf(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	case http.MethodGet, http.MethodHead:
		switch {
		case name != "":
			return "get"
		case isWatch(r):
			return "watch"
		}
		return "list"
	}
	return ""
}

// isWatch reports whether the query parameter watch makes a list a watch.
func isWatch(r *http.Request) bool {
	values, ok := r.URL.Query()["watch"]
	return ok && !strings.EqualFold(values[0], "false") && values[0] != "0"
}

// selectedName returns the name that the field selector requires, so that users who may read only
// that object may list and watch it.
func selectedName(r *http.Request) string {
	selector, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return ""
	}
	name, ok := selector.RequiresExactMatch("metadata.name")
	if !ok || len(path.IsValidPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}
