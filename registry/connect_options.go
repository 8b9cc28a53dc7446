package registry

import (
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// connectOptions returns the object of a connection for admission: the body of the subresource,
// set from the query and from the path after its name.
func (sub *Subresource) connectOptions(req ConnectRequest) runtime.Object {
	options := sub.New()
	fields := reflect.ValueOf(options).Elem()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		if name == "path" && fields.Field(i).Kind() == reflect.String {
			fields.Field(i).SetString(req.rooted())
		} else if values, ok := req.Query[name]; ok && name != "" && len(values) > 0 {
			setFromQuery(fields.Field(i), values)
		}
	}
	return options
}

// rooted returns the path with a leading slash, "" for an empty path.
func (req ConnectRequest) rooted() string {
	if req.Path == "" || strings.HasPrefix(req.Path, "/") {
		return req.Path
	}
	return "/" + req.Path
}

// setFromQuery sets a field from the values of a query as kube-apiserver does: a bool is true
// unless its value is "0" or "false".
func setFromQuery(field reflect.Value, values []string) {
	switch field.Kind() {
	case reflect.String:
		field.SetString(values[0])
	case reflect.Bool:
		field.SetBool(values[0] != "0" && !strings.EqualFold(values[0], "false"))
	case reflect.Slice:
		all := reflect.MakeSlice(field.Type(), len(values), len(values))
		for i, value := range values {
			setFromQuery(all.Index(i), []string{value})
		}
		field.Set(all)
	case reflect.Int32:
		if number, err := strconv.ParseInt(values[0], 10, 32); err == nil {
			field.SetInt(number)
		}
	}
}
