package fields

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

func TestLookup(t *testing.T) {
	var content any
	err := json.Unmarshal([]byte(`{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y"}],"ips":["1","2"]}}`), &content)
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) *value.FieldList {
		key := fieldpath.KeyByFields("name", name)
		return key
	}
	for want, path := range map[string]fieldpath.Path{
		`"y"`:                      fieldpath.MakePathOrDie("spec", "containers", named("b"), "image"),
		`{"image":"x","name":"a"}`: fieldpath.MakePathOrDie("spec", "containers", named("a")),
		`"2"`:                      fieldpath.MakePathOrDie("spec", "ips", value.NewValueInterface("2")),
		`"1"`:                      fieldpath.MakePathOrDie("spec", "ips", 0),
		"absent":                   fieldpath.MakePathOrDie("spec", "containers", named("c"), "image"),
		"absent too":               fieldpath.MakePathOrDie("spec", "containers", "image"),
	} {
		found, ok := Lookup(value.NewValueInterface(content), path)
		got, _ := json.Marshal(found)
		if ok != (want[0] != 'a') || ok && string(got) != want {
			t.Errorf("%v: got %s, want %s", path, got, want)
		}
	}
}
