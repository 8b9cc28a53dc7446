package crd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/internal/servertest"
)

// listener is a schema in the style of controller-gen. It has rules for the object, for fields, for
// items of lists and for values of maps.
const listener = `{
  type: object, description: Listener is where traffic comes in., required: [name, min, max], x-kubernetes-validations: [
    {rule: "self.min <= self.max", messageExpression: "'min is above max of ' + self.name"},
    {rule: "self.name == oldSelf.name", message: a listener keeps its name, reason: FieldValueForbidden, fieldPath: .name},
    {rule: "has(self.host) || !has(self.tls) || !self.tls", message: TLS needs a host, reason: FieldValueRequired, fieldPath: .host},
    {rule: "!has(oldSelf.host) || has(self.host)", message: the host stays}],
  properties: {
    name: {type: string, maxLength: 63, x-kubernetes-validations: [{rule: "self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')", message: must be a label}]},
    host: {type: string, maxLength: 253, x-kubernetes-validations: [{rule: "!format.dns1123Subdomain().validate(self).hasValue()"}]},
    tls: {type: boolean}, min: {type: integer, minimum: 0}, max: {type: integer},
    revision: {type: integer, x-kubernetes-validations: [{rule: "!oldSelf.hasValue() || self >= oldSelf.value()", optionalOldSelf: true, message: revisions rise}]},
    timeout: {type: string, format: duration, x-kubernetes-validations: [{rule: "self <= duration('1h')", message: an hour is enough}]},
    memory: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], maxLength: 20, x-kubernetes-validations: [
      {rule: "type(self) == int || isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))"}]},
    from: {type: array, maxItems: 8, x-kubernetes-list-type: set, items: {type: string, maxLength: 43, x-kubernetes-validations: [{rule: "isCIDR(self)", message: must be a network}]}},
    routes: {type: array, maxItems: 16, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
      x-kubernetes-validations: [{rule: "self.all(a, self.exists_one(b, a.port == b.port))", message: ports must differ}],
      items: {type: object, required: [name, port], x-kubernetes-validations: [
          {rule: "self.protocol == oldSelf.protocol", messageExpression: "self.name + ' speaks ' + oldSelf.protocol"}],
        properties: {name: {type: string, maxLength: 63}, port: {type: integer, minimum: 1, maximum: 65535}, protocol: {type: string, maxLength: 8, default: TCP}}}},
    labels: {type: object, maxProperties: 16, additionalProperties: {type: string, maxLength: 63},
      x-kubernetes-validations: [{rule: "self.all(k, k.startsWith('x-') && self[k] != '')", message: labels begin with x-}]}}}`

// ruledSchema returns a schema with many listeners, like those of controller-gen for a type that is
// used in many fields.
func ruledSchema(listeners int) string {
	var text strings.Builder
	text.WriteString(`spec: {type: object, x-kubernetes-validations: [{rule: "has(self.listener0)", message: the first listener is needed}], properties: {`)
	for i := range listeners {
		fmt.Fprintf(&text, "listener%d: %s,\n", i, listener)
	}
	text.WriteString("}}")
	return text.String()
}

// rulesOf returns the number of rules in a schema.
func rulesOf(props *apiextensionsv1.JSONSchemaProps) int {
	count := len(props.XValidations)
	for _, p := range props.Properties {
		count += rulesOf(&p)
	}
	if props.Items != nil {
		count += rulesOf(props.Items.Schema)
	}
	return count
}

const wholeListener = `{"name":"a","host":"example.com","min":1,"max":3,"tls":true,"revision":5,"timeout":"30s","memory":"1Gi","from":["10.0.0.0/8"],` +
	`"routes":[{"name":"r","port":80},{"name":"s","port":81}],"labels":{"x-a":"b"}}`

func TestManyRules(t *testing.T) {
	e := start(t)
	d := define(ruledSchema(30))
	if count := rulesOf(d.Spec.Versions[0].Schema.OpenAPIV3Schema); count < 300 {
		t.Errorf("%d rules", count)
	}
	e.create(d)
	e.widget("w", `spec: {listener0: `+wholeListener+`, listener29: `+wholeListener+`}`)
	for name, tc := range map[string]struct{ patch, want string }{
		"a valid object":                          {`{"min":2,"revision":5,"routes":[{"name":"r","port":8080}]}`, ""},
		"a computed message":                      {`{"min":7}`, `spec.listener29: Invalid value: min is above max of a`},
		"a transition rule with field and reason": {`{"name":"b"}`, `spec.listener29.name: Forbidden: a listener keeps its name`},
		"a transition rule of a removed value":    {`{"host":null,"tls":false}`, `spec.listener29: Invalid value: the host stays`},
		"two rules of one object":                 {`{"min":7,"name":"b"}`, `[spec.listener29: Invalid value: min is above max of b, spec.listener29.name: Forbidden: a listener keeps its name]`},
		"no transition rules for a new object":    {`null`, ""},
		"an optional old value":                   {`{"revision":4}`, `spec.listener29.revision: Invalid value: 4: revisions rise`},
		"a string with a format":                  {`{"timeout":"2h"}`, `spec.listener29.timeout: Invalid value: "2h": an hour is enough`},
		"a Kubernetes library, without message":   {`{"host":"_"}`, `spec.listener29.host: Invalid value: "_": failed rule: !format.dns1123Subdomain().validate(self).hasValue()`},
		"an int-or-string":                        {`{"memory":"-1"}`, `spec.listener29.memory: Invalid value: "-1": failed rule: type(self) == int || isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))`},
		"an item of a set":                        {`{"from":["10.0.0.0/8","ten"]}`, `spec.listener29.from[1]: Invalid value: "ten": must be a network`},
		"a rule that compares items":              {`{"routes":[{"name":"r","port":80},{"name":"s","port":80}]}`, `spec.listener29.routes: Invalid value: ports must differ`},
		"a transition rule of an item with a key": {`{"routes":[{"name":"s","port":81},{"name":"r","port":80,"protocol":"UDP"}]}`, `spec.listener29.routes[1]: Invalid value: r speaks TCP`},
		"no transition rules for a new item":      {`{"routes":[{"name":"t","port":80,"protocol":"UDP"}]}`, ""},
		"keys and values of a map":                {`{"labels":{"a":"b"}}`, `spec.listener29.labels: Invalid value: labels begin with x-`},
		"a type error blocks the rules":           {`{"min":"1"}`, `[spec.listener29.min: Invalid value: "string": spec.listener29.min in body must be of type integer: "string", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`},
		"a range error does not block rules":      {`{"min":-1,"max":-2}`, `[spec.listener29.min: Invalid value: -1: spec.listener29.min in body should be greater than or equal to 0, spec.listener29: Invalid value: min is above max of a]`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"listener29":`+tc.patch+`}}`), metav1.PatchOptions{DryRun: []string{"All"}})
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

// New rules do not apply to values that have not changed. In lists this needs items with keys.
func TestRatchetingOfRules(t *testing.T) {
	e := start(t)
	without := define(ruledSchema(2))
	listener := without.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["listener1"]
	removeRules(&listener)
	without.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["listener1"] = listener
	e.create(without)
	e.widget("w", `spec: {listener0: `+wholeListener+`, listener1: {name: A, min: 7, max: 3, routes: [{name: r, port: 80}, {name: s, port: 80}], from: [ten]}}`)
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Schema = versionOf("v1", ruledSchema(2)).Schema })
	for name, tc := range map[string]struct{ patch, want string }{
		"another object changes":                   {`{"listener0":{"max":9}}`, ""},
		"a rule of the changed object":             {`{"listener1":{"tls":false}}`, `spec.listener1: Invalid value: min is above max of A`},
		"the error is corrected":                   {`{"listener1":{"max":8}}`, ""},
		"an item of a set has no identity":         {`{"listener1":{"max":8,"from":["ten","10.0.0.0/8"]}}`, `spec.listener1.from[0]: Invalid value: "ten": must be a network`},
		"a rule of the changed list":               {`{"listener1":{"max":8,"routes":[{"name":"r","port":80},{"name":"s","port":80},{"name":"t","port":1}]}}`, `spec.listener1.routes: Invalid value: ports must differ`},
		"an unchanged field of a corrected object": {`{"listener1":{"max":9,"memory":1}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e.warnings.Take()
			_, err := e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":`+tc.patch+`}`), metav1.PatchOptions{DryRun: []string{"All"}})
			warnings := e.warnings.Take()
			const warned = `spec.listener1: Invalid value: min is above max of A` // unless the listener has changed
			if isUnchanged := !strings.Contains(tc.patch, "listener1"); slices.Contains(warnings, warned) != isUnchanged {
				t.Errorf("warnings %q", warnings)
			}
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

func removeRules(props *apiextensionsv1.JSONSchemaProps) {
	props.XValidations = nil
	for name, p := range props.Properties {
		removeRules(&p)
		props.Properties[name] = p
	}
	if props.Items != nil {
		removeRules(props.Items.Schema)
	}
}

// The estimated cost of a rule, and of all rules of a definition, is limited.
func TestEstimatedCostOfRulesIsLimited(t *testing.T) {
	e := start(t)
	quadratic := func(name string, items, rules int) *definition {
		var text strings.Builder
		text.WriteString("spec: {type: object, properties: {")
		for i := range rules {
			fmt.Fprintf(&text, `list%d: {type: array, maxItems: %d, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, a * b >= 0))"}]},`, i, items)
		}
		text.WriteString("}}")
		return define(text.String(), renamedTo(name, strings.ToUpper(name[:1])+name[1:]))
	}
	for name, tc := range map[string]struct {
		items, rules int
		want         string // error, "" for none
	}{
		"at the limit of a rule":       {1194, 1, ""},
		"above the limit of a rule":    {1195, 1, "estimated rule cost exceeds budget by factor of 1.000215x"},
		"at the limit of all rules":    {1000, 14, ""},
		"above the limit of all rules": {1000, 15, "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.050750x"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.definitions.Create(t.Context(), quadratic("qs", tc.items, tc.rules), metav1.CreateOptions{DryRun: []string{"All"}})
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// The cost of an evaluation is limited, independent of its estimate.
func TestEvaluationCostIsLimited(t *testing.T) {
	e := start(t)
	// A search in a long text has a high cost and takes little time.
	e.create(define(`spec: {type: object, properties: {list: {type: array, maxItems: 150, items: {type: integer}}, text: {type: string, maxLength: 100000}},
		x-kubernetes-validations: [{rule: "self.list.all(a, !self.text.contains('b'))"}]}`))
	search := func(times, length int) string {
		return "spec: {list: [" + strings.Repeat("1,", times) + "], text: " + strings.Repeat("a", length) + "}"
	}
	e.widget("w", search(10, 100_000))
	e.widget("v", search(150, 1000))
	_, err := e.widgets("v1").Create(t.Context(), object("v1", "x", search(150, 100_000)), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "call cost exceeds limit") {
		t.Errorf("got %v", err)
	}
}
