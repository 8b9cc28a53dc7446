package crd_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/internal/servertest"
)

// container is a schema in the style of controller-gen.
const container = `{
  type: object, description: A single application container that you want to run within a pod., required: [name], properties: {
    name: {type: string, description: Name of the container.}, image: {type: string}, command: {type: array, items: {type: string}, x-kubernetes-list-type: atomic},
    env: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {
      name: {type: string}, value: {type: string}, valueFrom: {type: object, properties: {
        configMapKeyRef: {type: object, required: [key], x-kubernetes-map-type: atomic, properties: {key: {type: string}, name: {type: string, default: ""}, optional: {type: boolean}}},
        fieldRef: {type: object, required: [fieldPath], x-kubernetes-map-type: atomic, properties: {apiVersion: {type: string}, fieldPath: {type: string}}}}}}}},
    ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [containerPort, protocol], items: {type: object, required: [containerPort], properties: {
      containerPort: {type: integer, format: int32}, name: {type: string}, protocol: {type: string, default: TCP}}}},
    resources: {type: object, properties: {
      limits: {type: object, additionalProperties: {anyOf: [{type: integer}, {type: string}], pattern: '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$', x-kubernetes-int-or-string: true}},
      requests: {type: object, additionalProperties: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}}}},
    livenessProbe: {type: object, properties: {
      httpGet: {type: object, required: [port], properties: {path: {type: string}, port: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}}},
      periodSeconds: {type: integer, format: int32, default: 10}}}}}`

// largeSchema returns a schema with a pod template for each role. 42 roles are 10,000 lines of
// YAML.
func largeSchema(roles int) string {
	var text strings.Builder
	text.WriteString("spec: {type: object, properties: {")
	for i := range roles {
		list := "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: " + container + "}"
		fmt.Fprintf(&text, "role%d: {type: object, properties: {template: {type: object, properties: {metadata: {type: object, x-kubernetes-preserve-unknown-fields: true}, "+
			"spec: {type: object, required: [containers], properties: {containers: %s, initContainers: %s}}}}}},\n", i, list, list)
	}
	text.WriteString("}}")
	return text.String()
}

func TestLargeSchema(t *testing.T) {
	e := start(t)
	schema := largeSchema(42)
	d := define(schema)
	if text, err := yaml.Marshal(d); err != nil || strings.Count(string(text), "\n") < 10_000 {
		t.Errorf("the definition has %d lines, %v", strings.Count(string(text), "\n"), err)
	}
	e.create(d)
	apply := func(manager, body string) *unstructured.Unstructured {
		t.Helper()
		applied, err := e.widgets("v1").Apply(t.Context(), "w", object("v1", "w", body), metav1.ApplyOptions{FieldManager: manager})
		if err != nil {
			t.Fatal(err)
		}
		return applied
	}
	apply("one", `spec: {role7: {template: {spec: {containers: [{name: a, ports: [{containerPort: 80}]}]}}}}`)
	apply("two", `spec: {role7: {template: {spec: {containers: [{name: b, resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}`)
	both := apply("one", `spec: {role7: {template: {spec: {containers: [{name: a, env: [{name: x, valueFrom: {configMapKeyRef: {key: k}}}]}]}}}}`)
	const want = `{"role7":{"template":{"spec":{"containers":[` +
		`{"env":[{"name":"x","valueFrom":{"configMapKeyRef":{"key":"k","name":""}}}],"name":"a"},` +
		`{"name":"b","resources":{"limits":{"cpu":1,"memory":"1Gi"}}}]}}}}`
	if got := spec(both); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err := e.widgets("v1").Create(t.Context(), object("v1", "x", `spec: {role34: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: much}}}]}}}}`), metav1.CreateOptions{})
	servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, `Widget.example.com "x" is invalid: spec.role34.template.spec.containers[0].resources.limits.cpu: Invalid value: "much": `+
		`spec.role34.template.spec.containers[0].resources.limits.cpu in body should match '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'`)
}

// Objects created in two versions are listed in three versions. A webhook converts them.
func TestListOfConvertedObjectsInThreeVersions(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h), func(d *definition) {
		d.Spec.Versions = append(d.Spec.Versions, versionOf("v3", `spec: {type: object, properties: {hostPort: {type: string}}}`))
	}))
	for i := range 60 {
		version, body := "v1", fmt.Sprintf("spec: {hostPort: 'h:%d'}", i)
		if i%3 == 1 {
			version, body = "v2", fmt.Sprintf("spec: {host: h, port: '%d'}", i)
		}
		if _, err := e.widgets(version).Create(t.Context(), object(version, fmt.Sprintf("w%02d", i), body), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	h.take()
	for range 3 {
		for version, form := range map[string]string{"v1": `{"hostPort":"h:%d"}`, "v2": `{"host":"h","port":"%d"}`, "v3": `{"hostPort":"h:%d"}`} {
			for i, u := range e.list(version).Items {
				if want := fmt.Sprintf(form, i); spec(&u) != want || u.GetAPIVersion() != "example.com/"+version {
					t.Errorf("%s in %s: got %s, want %s", u.GetName(), version, spec(&u), want)
				}
			}
		}
	}
	if calls := len(h.take()); calls > 2*60 {
		t.Errorf("60 objects in two versions took %d conversions", calls)
	}
}
