package e2e_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/miniapitest"
	"github.com/miniapi/miniapi/testapi/faults"
)

// TestFaultTypesAgree compares the fields of miniapitest.Fault with those of the server. The module
// miniapitest has types of its own because it imports nothing else of this repository.
func TestFaultTypesAgree(t *testing.T) {
	ours, theirs := jsonFields(reflect.TypeFor[faults.Fault]()), jsonFields(reflect.TypeFor[miniapitest.Fault]())
	if diff := cmp.Diff(ours, theirs); diff != "" {
		t.Errorf("testapi/faults and miniapitest differ (-testapi/faults +miniapitest):\n%s", diff)
	}
}

// jsonFields returns the JSON names of the fields of a struct, with the fields of nested structs.
// Durations, which are strings in JSON, have no fields.
func jsonFields(t reflect.Type) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Name() == "Duration" {
		return nil
	}
	fields := map[string]any{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields[name] = jsonFields(field.Type)
	}
	return fields
}
