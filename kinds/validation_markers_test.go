package kinds_test

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// unvalidatedFields are markers that validation does not follow, by the reason.
var unvalidatedFields = map[string][]string{}

// rule is a marker +k8s: that v1.37 enforces: directly, or with the stage beta. Rules of the stage
// alpha are not enforced.
var rule = regexp.MustCompile(`^(?:k8s:beta\([^)]*\)=\+)?k8s:(required|maxItems|maxLength|maxBytes|minimum|maximum|format|enum)(?:=(.*))?$`)

// TestFieldsAreValidatedAsMarked breaks each rule of a field that a marker of the published API
// types states, and requires an error of that field. Other errors are ignored: the objects are
// otherwise incomplete.
func TestFieldsAreValidatedAsMarked(t *testing.T) {
	m, checked, needed := readMarkers(t), 0, map[string]bool{}
	for _, res := range storedKinds(feature.Default()) {
		for _, f := range fieldsOf(reflect.TypeOf(newObject(res)), func(key string, f reflect.StructField) bool {
			return len(rulesOf(m, key, f.Type)) > 0
		}) {
			if isDisabled(m, f.keys) {
				continue
			}
			for name, value := range rulesOf(m, f.keys[len(f.keys)-1], f.typ) {
				checked++
				at := strings.Join(f.names, ".")
				errs := violate(t, res, f, name, value)
				if slices.ContainsFunc(errs, func(err *field.Error) bool { return subscript.ReplaceAllString(err.Field, "") == at }) {
					continue
				}
				id := f.field + " " + name
				if excepted(id) {
					needed[id] = true
					continue
				}
				t.Errorf("%s %s: %s=%s is not validated: %v", res.Kind, at, name, value, errs.ToAggregate())
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d rules were checked", checked)
	}
	for _, list := range unvalidatedFields {
		for _, id := range list {
			if !needed[id] {
				t.Errorf("the exception %s is not needed", id)
			}
		}
	}
}

func excepted(id string) bool {
	for _, list := range unvalidatedFields {
		if slices.Contains(list, id) {
			return true
		}
	}
	return false
}

// rulesOf returns the rules of a field and of its type, by name.
func rulesOf(m markers, key string, t reflect.Type) map[string]string {
	rules := map[string]string{}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, text := range append(slices.Clone(m[key]), m[t.PkgPath()+"."+t.Name()]...) {
		if found := rule.FindStringSubmatch(text); found != nil {
			rules[found[1]] = found[2]
		}
	}
	return rules
}

// isDisabled reports whether one of the fields is dropped by default.
func isDisabled(m markers, keys []string) bool {
	for _, key := range keys {
		for _, gate := range m.gatesOf(key) {
			if name, renamed := gateNames[gate]; !renamed && !feature.Default().Enabled(feature.Gate(gate)) || renamed && name != "" && !feature.Default().Enabled(feature.Gate(name)) {
				return true
			}
		}
	}
	return false
}

var subscript = regexp.MustCompile(`\[[^]]*\]`)

// violate validates an object whose field breaks a rule.
func violate(t *testing.T, res *registry.Resource, f markedField, name, value string) field.ErrorList {
	t.Helper()
	obj := newObject(res)
	f.set(reflect.ValueOf(obj))
	v := reflect.ValueOf(obj)
	for _, index := range f.index {
		v = enter(v).FieldByIndex(index)
	}
	breakRule(v, name, value)
	if status, ok := res.Subresource("status"); ok && f.names[0] == "status" && status.Update.Validate != nil {
		return status.Update.Validate(t.Context(), obj, newObject(res))
	}
	return res.Strategy.Create.Validate(t.Context(), obj)
}

// enter returns the struct that a value leads to, in its first item.
func enter(v reflect.Value) reflect.Value {
	for v.Kind() != reflect.Struct {
		switch v.Kind() {
		case reflect.Slice:
			v = v.Index(0)
		default:
			v = v.Elem()
		}
	}
	return v
}

func breakRule(v reflect.Value, name, value string) {
	if name == "required" {
		v.SetZero()
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	n, _ := strconv.ParseInt(value, 10, 64)
	switch name {
	case "maxItems":
		v.Set(reflect.MakeSlice(v.Type(), int(n)+1, int(n)+1))
	case "maxLength", "maxBytes":
		v.SetString(strings.Repeat("a", int(n)+1))
	case "minimum":
		v.SetInt(n - 1)
	case "maximum":
		v.SetInt(n + 1)
	default:
		v.SetString("!/!")
	}
}
