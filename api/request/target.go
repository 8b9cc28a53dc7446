package request

import (
	"slices"
	"strings"
)

// Form classifies paths.
type Form int

const (
	// OtherPath names no resource.
	OtherPath Form = iota
	// ResourcePath names a resource. Some of its segments may be empty.
	ResourcePath
	// IncompletePath ends after a prefix, such as /watch/. kube-apiserver cannot parse it.
	IncompletePath
)

// Target holds the parts of a request's path. Group and Version are also set for the discovery of
// a group version.
type Target struct {
	Form                  Form
	Group, Version        string
	Namespace, Name       string
	Resource, Subresource string
	// Rest is the path after the subresource, without a leading slash.
	Rest string
	// Prefix is the legacy prefix before the resource: watch, proxy or "".
	Prefix string
	// InNamespace reports whether the path names the namespace of the resource.
	InNamespace bool
	// Empty reports whether a segment is empty, other than the namespace and the segments of Rest.
	// Nothing is served at such a path.
	Empty bool
}

// namespaceSubresources are the subresources of namespaces in kube-apiserver. Any other segment
// after /namespaces/{name}/ is a resource in the namespace.
var namespaceSubresources = []string{"status", "finalize"}

// ParseTarget parses /api/{version}/... and /apis/{group}/{version}/..., as kube-apiserver does:
// slashes at both ends are ignored, all others separate segments. added are subresources of
// namespaces that kube-apiserver does not have, at /api/v1/namespaces/{name}/{subresource} only: in
// other groups, a resource can have that name.
func ParseTarget(path string, added ...string) Target {
	var buffer [8]string // avoids an allocation for most paths
	parts := buffer[:0]
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		parts = append(parts, part)
	}
	t := Target{Form: OtherPath}
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
	t.Form = ResourcePath
	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) == 1 {
			t.Form = IncompletePath
			return t
		}
		t.Prefix, parts = parts[0], parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		t.Namespace = parts[1]
		isAdded := t.Group == "" && t.Prefix == "" && len(parts) == 3 && slices.Contains(added, parts[2])
		if len(parts) > 2 && !isAdded && !slices.Contains(namespaceSubresources, parts[2]) {
			t.InNamespace, parts = t.Namespace != "", parts[2:]
		}
	}
	t.parseObject(parts)
	return t
}

// parseObject parses {resource}/{name}/{subresource}/{rest}.
func (t *Target) parseObject(parts []string) {
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
