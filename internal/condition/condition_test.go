package condition_test

import (
	"strings"
	"testing"

	"github.com/miniapi/miniapi/internal/condition"
)

func TestConditions(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"name": "web", "labels": map[string]any{"app": "web"}},
		"spec":     map[string]any{"replicas": int64(3)},
		"status": map[string]any{"readyReplicas": int64(1), "conditions": []any{
			map[string]any{"type": "Available", "status": "False"},
		}},
	}
	for text, want := range map[string]string{
		"object.spec.replicas == 3": "",
		"self.spec.replicas == 3":   "",
		"object.status.readyReplicas == object.spec.replicas": "object.status.readyReplicas == object.spec.replicas is false, " +
			"object.status.readyReplicas is 1, object.spec.replicas is 3",
		"object.spec.replicas == 3 && object.status.readyReplicas >= 2":                   "object.status.readyReplicas >= 2 is false, object.status.readyReplicas is 1",
		"object.status.phase == 'Running'":                                                `object.status.phase == "Running": no such key: phase`,
		"has(object.status.phase)":                                                        "has(object.status.phase) is false",
		"object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')": `object.status.conditions.exists(c, c.type == "Available" && c.status == "True") is false`,
		"object.status.conditions.exists(c, c.type == 'Available')":                       "",
		"'app' in object.metadata.labels":                                                 "",
		"quantity('1Gi').isGreaterThan(quantity('1Mi'))":                                  "", // a library of Kubernetes
		"object.spec": "object.spec: the value is not a bool",
	} {
		t.Run(text, func(t *testing.T) {
			c, err := condition.Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Unmet(object); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestInvalidConditions(t *testing.T) {
	for text, want := range map[string]string{
		"object.":     "not valid CEL",
		"pod.spec":    "undeclared reference to 'pod'",
		"1 + 2":       `"1 + 2" is a int, not a bool`,
		"object ==":   "not valid CEL",
		"size('abc')": "not a bool",
	} {
		if _, err := condition.Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
