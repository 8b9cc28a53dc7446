package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	yaml "go.yaml.in/yaml/v3"
)

// The nodes of a JSON text equal the nodes of a YAML parser, except for styles and positions.
func TestNodesEqualYAML(t *testing.T) {
	for name, text := range map[string]string{
		"empty object":       `{}`,
		"empty array":        `{"list":[]}`,
		"nested collections": `{"a":{"b":[{"c":1},[2,[3]]]},"d":4}`,
		"null and booleans":  `[null,true,false]`,
		"integers":           `[0,-1,7,9223372036854775807,-9223372036854775808,18446744073709551615]`,
		"large integers":     `[18446744073709551616,-9223372036854775809,100000000000000000000000]`,
		"floats":             `[0.5,-1.25,1e3,1E-7,2.5e+10,1.0,-0,-0.0]`,
		"texts like scalars": `["true","null","1","0x10","1.5","","~","yes","2026-01-02","<<"]`,
		"escapes":            `["\u003ca\u003e \u0026","line\nline","tab\there","quote\"back\\slash","\u00e9","\u2028"]`,
		"other scripts":      `{"名前":"値","é":"😀"}`,
		"names like scalars": `{"true":1,"1":2,"":3,"a: b":4,"# c":5}`,
		"spaces":             " { \"a\" : [ 1 ,\n 2 ] } ",
	} {
		t.Run(name, func(t *testing.T) {
			var want yaml.Node
			if err := yaml.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			got, err := parseNode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			ignored := cmpopts.IgnoreFields(yaml.Node{}, "Style", "Line", "Column")
			if diff := cmp.Diff(want.Content[0], got, ignored); diff != "" {
				t.Errorf("nodes (-yaml +json):\n%s", diff)
			}
		})
	}
}

func TestNodesOfIncompleteText(t *testing.T) {
	for _, text := range []string{``, `{`, `{"a"`, `{"a":[1`, `[1}`, `"\q"`, `[1]]`} {
		if node, err := parseNode([]byte(text)); err == nil {
			t.Errorf("%q has the node %v, want an error", text, node)
		}
	}
}
