package conformance

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// notYet are the fields, by kind, that no default fills in but admission or
// allocation, which are not there yet.
var notYet = map[string][]string{
	// Allocated addresses and ports.
	"Service": {".spec.clusterIP", ".spec.clusterIPs", ".spec.ipFamilies", ".spec.ipFamilyPolicy", ".spec.ports[].nodePort"},
}

// onlyNotYet tells whether an answer lacks nothing but such fields.
func onlyNotYet(s *step, found []difference) bool {
	var object struct{ Kind string }
	if err := json.Unmarshal(s.Body, &object); err != nil {
		return false
	}
	kind := strings.TrimSuffix(object.Kind, "List")
	return !slices.ContainsFunc(found, func(d difference) bool { return !isNotYet(kind, d) })
}

func isNotYet(kind string, d difference) bool {
	return d.missing && slices.Contains(notYet[kind], fieldOf(d.path))
}

var (
	object = regexp.MustCompile(`^body(\.items\[\d+\])?`)
	index  = regexp.MustCompile(`\[\d+\]`)
)

// fieldOf is the path of a field in the object that an answer shows.
func fieldOf(path string) string {
	return index.ReplaceAllString(object.ReplaceAllString(path, ""), "[]")
}
