package openapi

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operation is one method of one path.
type operation struct {
	method      string // in lower case
	id          string
	tag         string
	description string
	// action and kind are Kubernetes' extensions; both are empty for what is no
	// resource.
	action string
	kind   schema.GroupVersionKind
	params []parameter
	body   body
	answer answer
}

// body of a request; the zero value is none.
type body struct {
	model    string
	required bool
	media    []string
}

// answer is what a request gets in case of success.
type answer struct {
	codes []int
	model string // "": a string
	media []string
}

// route is a path and what can be done with it.
type route struct {
	path       string
	operations []operation
}

var (
	encodings     = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamable    = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"}
	patchTypes    = []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}
	anything      = []string{"*/*"}
	textOrObjects = append([]string{"text/plain"}, encodings...)
)

// descriptions of the codes of success; the failure that every operation knows
// is 401.
var codeTexts = map[int]string{
	http.StatusOK:       "OK",
	http.StatusCreated:  "Created",
	http.StatusAccepted: "Accepted",
}

// shared splits parameters into those which all operations of the route have in
// common and the rest of each.
func (r route) shared() (common []parameter, own [][]parameter) {
	for _, p := range r.operations[0].params {
		everywhere := !slices.ContainsFunc(r.operations, func(o operation) bool { return !slices.Contains(o.params, p) })
		if everywhere {
			common = append(common, p)
		}
	}
	for _, o := range r.operations {
		rest := slices.DeleteFunc(slices.Clone(o.params), func(p parameter) bool { return slices.Contains(common, p) })
		slices.SortFunc(rest, compareParameters)
		own = append(own, rest)
	}
	slices.SortFunc(common, compareParameters)
	return common, own
}

// models that the operations of routes mention.
func models(routes []route) []string {
	var names []string
	for _, r := range routes {
		for _, o := range r.operations {
			names = append(names, o.body.model, o.answer.model)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

func compareParameters(a, b parameter) int { return strings.Compare(a.name, b.name) }
