package openapi

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operation is one method of one path.
type operation struct {
	method      string // in lower case
	id          string
	tag         string
	description string
	// action and kind are extensions of Kubernetes. Both are empty for non-resource paths.
	action   string
	kind     schema.GroupVersionKind
	params   []parameter
	body     body
	response response
}

// body is the body of a request. The zero value means none.
type body struct {
	model    string
	required bool
	media    []string
}

// response is the response to a successful request.
type response struct {
	codes []int
	model string // "" means a string
	media []string
}

// route is a path with its operations.
type route struct {
	path       string
	operations []operation
}

var (
	mediaTypes      = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	watchMediaTypes = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"}
	anyMediaType    = []string{"*/*"}
	logMediaTypes   = append([]string{"text/plain"}, mediaTypes...)
)

// addCBOR adds the media types of CBOR to each response that can be in protobuf.
func addCBOR(routes []route) {
	for k := range routes {
		routes[k].operations = slices.Clone(routes[k].operations)
		for i := range routes[k].operations {
			media := &routes[k].operations[i].response.media
			at := slices.Index(*media, runtime.ContentTypeProtobuf)
			if at < 0 {
				continue
			}
			*media = slices.Insert(slices.Clone(*media), at+1, runtime.ContentTypeCBOR)
			if slices.Contains(*media, runtime.ContentTypeProtobuf+";stream=watch") {
				*media = append(*media, runtime.ContentTypeCBORSequence)
			}
		}
	}
}

// codeTexts describes the codes of success. The only error code of every operation is 401.
var codeTexts = map[int]string{
	http.StatusOK:       "OK",
	http.StatusCreated:  "Created",
	http.StatusAccepted: "Accepted",
}

// splitParameters returns the parameters that all operations of the route have in common, and the
// other parameters of each operation.
func (r route) splitParameters() (common []parameter, own [][]parameter) {
	for _, p := range r.operations[0].params {
		isCommon := !slices.ContainsFunc(r.operations, func(o operation) bool { return !slices.Contains(o.params, p) })
		if isCommon {
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

// models returns the names of the models in the operations of routes.
func models(routes []route) []string {
	var names []string
	for _, r := range routes {
		for _, o := range r.operations {
			names = append(names, o.body.model, o.response.model)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

func compareParameters(a, b parameter) int { return strings.Compare(a.name, b.name) }
