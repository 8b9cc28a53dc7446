package typed

import (
	"slices"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

func TestParse(t *testing.T) {
	d, err := parse("T", `!{items:[name,port]@Item keys:[=]s name:s="x" port:n=0 rest:[]* values:{:?} whole:!@Other }`)
	if err != nil {
		t.Fatal(err)
	}
	if d.Map.ElementRelationship != schema.Atomic {
		t.Error("the object is not one thing as a whole")
	}
	if want := []string{"Item", untypedName, deducedName, "Other"}; !slices.Equal(d.uses, want) {
		t.Errorf("uses %v, want %v", d.uses, want)
	}
	items, _ := d.Map.FindField("items")
	if list := items.Type.Inlined.List; list.ElementRelationship != schema.Associative || !slices.Equal(list.Keys, []string{"name", "port"}) {
		t.Errorf("items are %+v", list)
	}
	keys, _ := d.Map.FindField("keys")
	if list := keys.Type.Inlined.List; list.ElementRelationship != schema.Associative || list.Keys != nil {
		t.Errorf("keys are %+v", list)
	}
	for name, want := range map[string]any{"name": "x", "port": 0.0, "rest": nil} {
		if field, _ := d.Map.FindField(name); field.Default != want {
			t.Errorf("the default of %s is %v, want %v", name, field.Default, want)
		}
	}
	whole, _ := d.Map.FindField("whole")
	if r := whole.Type.ElementRelationship; r == nil || *r != schema.Atomic {
		t.Errorf("whole is %+v", whole.Type)
	}
}

func TestParseRejectsMalformedTypes(t *testing.T) {
	for _, notation := range []string{"", "x", "{a", "{a:", "{a:x }", "[", "[a", "[]", "s s", `{a:s=y }`} {
		if d, err := parse("T", notation); err == nil {
			t.Errorf("%q is %+v", notation, d.Atom)
		}
	}
}

func TestEveryTypeCanBeParsed(t *testing.T) {
	l := newLibrary()
	for name := range lines() {
		if _, err := l.closure(name); err != nil {
			t.Error(err)
		}
	}
}
