package api

import (
	"slices"
	"strings"
)

// target is what the path of a request for a resource names.
type target struct {
	Group, Version        string
	Namespace, Name       string
	Resource, Subresource string
	// Rest is the path behind the subresource, without a leading slash.
	Rest string
	// InNamespace tells whether the path names a namespace to look in.
	InNamespace bool
	// Watch is set by the legacy prefix /watch/.
	Watch bool
}

// namespaceParts are the subresources of namespaces. In what follows
// /namespaces/{name}/ every other word is a resource inside the namespace.
var namespaceParts = []string{"status", "finalize"}

// parseTarget reads /api/{version}/... and /apis/{group}/{version}/..., as
// kube-apiserver does. It is false for a path that cannot name a resource.
func parseTarget(path string) (target, bool) {
	var room [8]string // most paths fit, and need nothing on the heap
	parts := room[:0]
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		parts = append(parts, part)
	}
	var t target
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return target{}, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		t.Watch, parts = true, parts[1:]
	}
	if insideNamespace(parts) {
		t.InNamespace, t.Namespace, parts = true, parts[1], parts[2:]
	}
	t.Resource = parts[0]
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	if len(parts) > 2 {
		t.Subresource = parts[2]
	}
	if len(parts) > 3 {
		t.Rest = strings.Join(parts[3:], "/")
		parts = parts[:3]
	}
	return t, !slices.Contains(parts, "") && (!t.InNamespace || t.Namespace != "")
}

func insideNamespace(parts []string) bool {
	return len(parts) > 2 && parts[0] == "namespaces" && !slices.Contains(namespaceParts, parts[2])
}
