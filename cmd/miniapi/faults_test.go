package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifestHead = "apiVersion: miniapi.dev/v1alpha1\nkind: Fault\n"

func TestReadFaults(t *testing.T) {
	for _, test := range []struct{ content, err string }{
		{"- {match: {verbs: [update]}, effect: {conflict: {}}}\n- {effect: {latency: {duration: 5ms}}}", ""},
		{"- {effects: {}}", `unknown field "effects"`},
		{"match: {}", "the document must be a list of faults or of kind Fault"},
		{"apiVersion: v1\nkind: Fault", "the kind must be Fault in miniapi.dev/v1alpha1"},
		{manifestHead + "spec: {effects: {}}", `unknown field "effects"`},
		{manifestHead + "metadata: {name: a}\nspec: {effect: {conflict: {}}}\n---\n- {effect: {conflict: {}}}", ""},
		{"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: miniapi.dev/v1alpha1, kind: Fault, spec: {effect: {compact: {}}}}\n" +
			"- {apiVersion: miniapi.dev/v1alpha1, kind: Fault, spec: {effect: {stale: {}}}}", ""},
		{"- {name: a, effect: {conflict: {}}}\n- {name: a, effect: {conflict: {}}}", "fault a: another fault has the same name"},
		{"- {name: a_b, effect: {conflict: {}}}", `fault a_b: name: Invalid value: "a_b"`},
		{"- {effect: {}}", "fault number 1: effect: Required value: set exactly one of status, conflict, latency, reset, watch"},
		{"- {name: slow, effect: {latency: {duration: 0s}}}", `fault slow: effect.latency.duration: Invalid value: "0s": must be positive`},
	} {
		path := filepath.Join(t.TempDir(), "faults.yaml")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := &options{}
		for _, set := range opts.flagSets() {
			_ = set.flags.Parse(nil)
		}
		opts.faults = path
		config, err := opts.config()
		switch {
		case test.err == "" && (err != nil || len(config.Faults) != 2):
			t.Errorf("%s: %v", test.content, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, want %q", test.content, err, test.err)
		}
	}
}
