package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/fields"
)

// requestInfo holds the attributes of a request: verb, resource and name. It is parsed once from
// the method, path and query, by kube-apiserver's rules. Authorization, limits, metrics, dispatch
// and the proxy to other servers use it.
type requestInfo struct {
	target
	// Path is the decoded path.
	Path string
	// Verb of authorization: the method in lower case where the path names no resource. There is
	// no verb connect: streams are opened by the verb of their method.
	Verb string
	// SelectedName is the one object that the field selector of a list or a watch names.
	SelectedName string
}

type requestInfoKey struct{}

// readRequestInfo is the middleware that reads the requestInfo. The decoded path is the only
// one from here on: an encoded slash separates segments everywhere, or nowhere.
func readRequestInfo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := newRequestInfo(r)
		if info.Form == prefixAlone {
			text := fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %v", r.RequestURI, r.URL)
			http.Error(w, escapeHTML.Replace(text), http.StatusInternalServerError)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, info))
		if r.URL.RawPath != "" {
			decoded := *r.URL
			decoded.RawPath = ""
			r.URL = &decoded
		}
		next.ServeHTTP(w, r)
	})
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// infoOf returns the requestInfo that readRequestInfo has read.
func infoOf(r *http.Request) *requestInfo {
	if info, ok := r.Context().Value(requestInfoKey{}).(*requestInfo); ok {
		return info
	}
	return newRequestInfo(r)
}

func newRequestInfo(r *http.Request) *requestInfo {
	info := &requestInfo{target: parseTarget(r.URL.Path), Path: r.URL.Path}
	if info.Form != resourcePath {
		info.Verb = strings.ToLower(r.Method)
		return info
	}
	if info.Verb = info.Prefix; info.Verb == "" {
		info.Verb = verbOfMethod(r, info.Name)
	}
	if info.Prefix == "" && info.Name == "" && (info.Verb == "list" || info.Verb == "watch") {
		info.SelectedName = selectedName(r)
	}
	return info
}

// verbOfMethod returns the verb of a request for a resource. name is the object's name, "" for a
// collection.
func verbOfMethod(r *http.Request, name string) string {
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
		case wantsWatch(r):
			return "watch"
		}
		return "list"
	}
	return ""
}

// selectedName is the name that a list is limited to, so that users who may read that one
// object may list and watch it.
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

// pathForm classifies paths.
type pathForm int

const (
	// otherPath names no resource.
	otherPath pathForm = iota
	// resourcePath names a resource, in segments of which some may be empty.
	resourcePath
	// prefixAlone is a prefix such as /watch/ with nothing behind it.
	prefixAlone
)

// target holds the parts of a request's path. Group and Version are also set for the discovery of
// a group version.
type target struct {
	Form                  pathForm
	Group, Version        string
	Namespace, Name       string
	Resource, Subresource string
	// Rest is the path behind the subresource, without a leading slash.
	Rest string
	// Prefix is the legacy prefix before the resource: watch, proxy or "".
	Prefix string
	// InNamespace reports whether the path names a namespace to look in.
	InNamespace bool
	// Empty reports whether one of the segments is empty, other than the namespace and those
	// of Rest. Nothing is served at such a path.
	Empty bool
}

// namespaceParts are the subresources of namespaces. After /namespaces/{name}/ any other segment
// is a resource in the namespace.
var namespaceParts = []string{"status", "finalize"}

// parseTarget reads /api/{version}/... and /apis/{group}/{version}/..., as
// kube-apiserver does: slashes at both ends do not count, all others separate segments.
func parseTarget(path string) target {
	var room [8]string // most paths fit, and need nothing on the heap
	parts := room[:0]
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		parts = append(parts, part)
	}
	t := target{Form: otherPath}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
		t.Empty = t.Version == ""
	case len(parts) >= 4 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
		t.Empty = t.Group == "" || t.Version == ""
	case len(parts) == 3 && parts[0] == "apis":
		t.Group, t.Version = parts[1], parts[2]
		return t
	default:
		return t
	}
	t.Form = resourcePath
	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) == 1 {
			t.Form = prefixAlone
			return t
		}
		t.Prefix, parts = parts[0], parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		t.Namespace = parts[1]
		if len(parts) > 2 && !slices.Contains(namespaceParts, parts[2]) {
			t.InNamespace, parts = t.Namespace != "", parts[2:]
		}
	}
	t.parseObject(parts)
	return t
}

// parseObject reads {resource}/{name}/{subresource}/{rest}.
func (t *target) parseObject(parts []string) {
	t.Resource = parts[0]
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	if len(parts) > 2 && t.Prefix != "proxy" {
		t.Subresource = parts[2]
	}
	if len(parts) > 3 {
		t.Rest = strings.Join(parts[3:], "/")
		parts = parts[:3]
	}
	t.Empty = t.Empty || slices.Contains(parts, "")
}
