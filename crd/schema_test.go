package crd_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/internal/servertest"
)

func TestPruningAndDefaulting(t *testing.T) {
	e := start(t)
	e.create(define(`
spec:
  type: object
  properties:
    name: {type: string, default: none}
    limit: {x-kubernetes-int-or-string: true}
    note: {type: string, nullable: true, default: x}
    plain: {type: string}
    nested: {type: object, default: {a: 1}, properties: {a: {type: integer, default: 2}, b: {type: integer, default: 3}}}
    free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object, properties: {a: {type: integer}}}}}
    template: {type: object, x-kubernetes-embedded-resource: true, properties: {data: {type: object, additionalProperties: {type: string}}}}
    raw: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
    items: {type: array, items: {type: object, properties: {kind: {type: string, default: any}}}}
`))
	const defaults = `"name":"none","nested":{"a":1,"b":3},"note":"x"`
	for name, tc := range map[string]struct{ body, want string }{
		"defaults are set":                                          {"spec: {}", `{` + defaults + `}`},
		"defaults are set in an existing object":                    {"spec: {name: a, note: b, nested: {}}", `{"name":"a","nested":{"a":2,"b":3},"note":"b"}`},
		"defaults are set in items":                                 {"spec: {items: [{}]}", `{"items":[{"kind":"any"}],` + defaults + `}`},
		"null is replaced by a default":                             {"spec: {name: null}", `{` + defaults + `}`},
		"null is kept in a nullable field":                          {"spec: {note: null}", `{"name":"none","nested":{"a":1,"b":3},"note":null}`},
		"null is removed from a field that is not nullable":         {"spec: {plain: null}", `{` + defaults + `}`},
		"unknown fields are pruned":                                 {"spec: {other: 1, nested: {a: 1, b: 3, c: 4}}", `{` + defaults + `}`},
		"unknown fields are kept if the schema says so":             {"spec: {free: {other: {x: 1}}}", `{"free":{"other":{"x":1}},` + defaults + `}`},
		"known fields below preserved ones are pruned":              {"spec: {free: {known: {a: 1, b: 2}}}", `{"free":{"known":{"a":1}},` + defaults + `}`},
		"an int-or-string may be a string":                          {"spec: {limit: 50%}", `{"limit":"50%",` + defaults + `}`},
		"an int-or-string may be an integer":                        {"spec: {limit: 5}", `{"limit":5,` + defaults + `}`},
		"an embedded object is pruned except for kind and metadata": {"spec: {template: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {b: c}}, data: {d: e}, other: 1}}", `{` + `"name":"none","nested":{"a":1,"b":3},"note":"x","template":{"apiVersion":"v1","data":{"d":"e"},"kind":"ConfigMap","metadata":{"labels":{"b":"c"},"name":"a"}}}`},
		"unknown metadata of an embedded object is pruned":          {"spec: {raw: {apiVersion: v1, kind: A, metadata: {name: a, other: 1}, more: 2}}", `{"name":"none","nested":{"a":1,"b":3},"note":"x","raw":{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"more":2}}`},
		"numbers stay what they are: whole, large, in part":         {"spec: {free: {a: 9007199254740993, b: 1.5}}", `{"free":{"a":9007199254740993,"b":1.5},` + defaults + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			u := object("v1", "", tc.body)
			u.SetGenerateName("w-")
			created, err := e.widgets("v1").Create(t.Context(), u, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			read := e.get("v1", created.GetName())
			if spec(created) != tc.want || spec(read) != tc.want {
				t.Errorf("created %s\nread    %s\nwant    %s", spec(created), spec(read), tc.want)
			}
		})
	}
}

func TestSchemaValidation(t *testing.T) {
	e := start(t)
	e.create(define(`
spec:
  type: object
  required: [size]
  properties:
    size: {type: integer, minimum: 1, maximum: 9}
    limit: {x-kubernetes-int-or-string: true}
    mode: {type: string, enum: [a, b]}
    set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
    map: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: {type: object, required: [key], properties: {key: {type: string}}}}
    when: {type: string, format: date-time}
    raw: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`))
	for name, tc := range map[string]struct{ body, want string }{
		"a missing required field": {"spec: {}", "spec.size: Required value"},
		"too small":                {"spec: {size: 0}", "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
		"another type":             {"spec: {size: a}", `spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
		"neither int nor string":   {"spec: {size: 1, limit: true}", `spec.limit: Invalid value: "boolean": spec.limit in body must be of type integer,string: "boolean"`},
		"none of the values":       {"spec: {size: 1, mode: c}", `spec.mode: Unsupported value: "c": supported values: "a", "b"`},
		"a duplicate in a set":     {"spec: {size: 1, set: [a, b, a]}", `spec.set[2]: Duplicate value: "a"`},
		"a duplicate key":          {"spec: {size: 1, map: [{key: a}, {key: a}]}", `spec.map[1]: Duplicate value: {"key":"a"}`},
		"a malformed time":         {"spec: {size: 1, when: now}", `spec.when: Invalid value: "now": spec.when in body must be of type date-time: "now"`},
		"an object without a kind": {"spec: {size: 1, raw: {apiVersion: v1}}", "spec.raw.kind: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.widgets("v1").Create(t.Context(), object("v1", "w", tc.body), metav1.CreateOptions{})
			servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, `Widget.example.com "w" is invalid: `+tc.want)
		})
	}
}

func TestRules(t *testing.T) {
	e := start(t)
	e.create(define(`
spec:
  type: object
  x-kubernetes-validations:
  - {rule: "self.min <= self.max", messageExpression: "'min is above max of ' + self.name"}
  - {rule: "!has(self.mode) || self.mode != 'off' || self.max == 0", message: off means none, reason: FieldValueForbidden, fieldPath: .max}
  properties:
    name: {type: string, maxLength: 9}
    min: {type: integer, default: 0}
    max: {type: integer, default: 0}
    mode: {type: string, maxLength: 9}
    class: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: class is immutable}]}
    grows: {type: integer, x-kubernetes-validations: [{rule: "!oldSelf.hasValue() || self >= oldSelf.value()", optionalOldSelf: true}]}
`))
	e.widget("w", "spec: {class: a, grows: 5}")
	for name, tc := range map[string]struct{ patch, want string }{
		"a message is computed":           {`{"min":3,"max":1,"name":"it"}`, "spec: Invalid value: min is above max of it"},
		"a message cannot be computed":    {`{"min":3,"max":1}`, "spec: Invalid value: failed rule: self.min <= self.max"},
		"a rule has a reason and a field": {`{"mode":"off","max":1}`, "spec.max: Forbidden: off means none"},
		"a transition rule fails":         {`{"class":"b"}`, `spec.class: Invalid value: "b": class is immutable`},
		"a removal is not checked by it":  {`{"class":null}`, ""},
		"an optional old value":           {`{"grows":4}`, "spec.grows: Invalid value: 4: failed rule: !oldSelf.hasValue() || self >= oldSelf.value()"},
		"a valid object":                  {`{"min":1,"max":2,"grows":6}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":`+tc.patch+`}`), metav1.PatchOptions{DryRun: []string{"All"}})
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, `Widget.example.com "w" is invalid: `+tc.want)
		})
	}
}

func TestCostOfRuleWithoutBoundsIsRejected(t *testing.T) {
	e := start(t)
	_, err := e.definitions.Create(t.Context(), define(`
spec:
  type: object
  properties:
    list: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, self.all(c, a + b != c)))"}]}
`), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "estimated rule cost exceeds budget by factor of more than 100x") {
		t.Errorf("a rule without bounds got %v", err)
	}
	e.create(define(`
spec:
  type: object
  properties:
    list: {type: array, maxItems: 100, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, a * b >= 0))"}]}
`))
	e.widget("w", "spec: {list: [1, 2, 3]}")
}

// An invalid value is accepted as long as it does not change.
func TestRatcheting(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: string}, b: {type: string}, items: {type: array, items: {type: string}}}}`))
	e.widget("w", "spec: {a: long, items: [x, x]}")
	e.change("widgets", func(d *definition) {
		d.Spec.Versions[0].Schema = versionOf("v1", `
spec:
  type: object
  properties:
    a: {type: string, maxLength: 2, x-kubernetes-validations: [{rule: self != 'long'}]}
    b: {type: string}
    items: {type: array, x-kubernetes-list-type: set, items: {type: string}}
`).Schema
	})
	patch := func(text string) error {
		_, err := e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(text), metav1.PatchOptions{})
		return err
	}
	if err := patch(`{"spec":{"b":"new"}}`); err != nil {
		t.Errorf("an unchanged invalid value: %v", err)
	}
	servertest.WantStatus(t, patch(`{"spec":{"a":"longer"}}`), 422, metav1.StatusReasonInvalid,
		`Widget.example.com "w" is invalid: [spec.a: Too long: may not be more than 2 bytes, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`)
	if err := patch(`{"spec":{"a":"ok"}}`); err != nil {
		t.Errorf("a corrected value: %v", err)
	}
}

// A new default applies to reads of existing objects. Their stored bytes do not change.
func TestDefaultsAreSetOnRead(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: integer}}}`))
	created := e.widget("w", "spec: {a: 1}")
	e.change("widgets", func(d *definition) {
		d.Spec.Versions[0].Schema = versionOf("v1", `spec: {type: object, properties: {a: {type: integer}, b: {type: integer, default: 2}}}`).Schema
	})
	w, err := e.widgets("v1").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	const want = `{"a":1,"b":2}`
	if got := e.get("v1", "w"); spec(got) != want || got.GetResourceVersion() != created.GetResourceVersion() {
		t.Errorf("got %s in version %s", spec(got), got.GetResourceVersion())
	}
	if got := toJSON(e.next(w).Object); !strings.Contains(got, want) {
		t.Errorf("watched %s", got)
	}
	e.change("widgets", func(d *definition) {
		d.Spec.Versions[0].Schema = versionOf("v1", `spec: {type: object, properties: {b: {type: integer}}}`).Schema
	})
	if got := spec(e.get("v1", "w")); got != `{}` {
		t.Errorf("fields that the schema no longer has: %s", got)
	}
}

func TestFieldValidation(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: integer}}}`))
	u := object("v1", "w", "spec: {a: 1, b: 2}\nother: 3")
	_, err := e.widgets("v1").Create(t.Context(), u, metav1.CreateOptions{FieldValidation: "Strict"})
	servertest.WantStatus(t, err, 400, metav1.StatusReasonBadRequest, `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "other", unknown field "spec.b"`)
	if _, err := e.widgets("v1").Create(t.Context(), u, metav1.CreateOptions{FieldValidation: "Warn"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.warnings.Take(), "; "); got != `unknown field "other"; unknown field "spec.b"` {
		t.Errorf("warnings: %s", got)
	}
}
