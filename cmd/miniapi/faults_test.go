package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFaults(t *testing.T) {
	for _, test := range []struct{ content, err string }{
		{"- {match: {verbs: [update]}, effect: {conflict: {}}}\n- {effect: {latency: {duration: 5ms}}}", ""},
		{"- {effects: {}}", `unknown field "effects"`},
		{"match: {}", "the file must have a list of faults"},
		{"- {effect: {}}", "fault number 1: effect: set exactly one of status, conflict, latency, reset, watch"},
		{"- {name: slow, effect: {latency: {duration: 0s}}}", "fault slow: effect.latency.duration 0s: must be positive"},
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
