package controllers

import (
	"strings"
	"testing"
)

func TestSelection(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"nil is the default":              {nil, "garbage-collector-controller namespace-controller"},
		"an empty list is none":           {[]string{}, ""},
		"a star is the default":           {[]string{"*"}, "garbage-collector-controller namespace-controller"},
		"minus and a name removes":        {[]string{"*", "-garbage-collector-controller"}, "namespace-controller"},
		"aliases":                         {[]string{"*", "-garbagecollector"}, "namespace-controller"},
		"names without a star":            {[]string{"namespace"}, "namespace-controller"},
		"the first entry about it counts": {[]string{"-namespace", "namespace"}, ""},
		"a star and a named one":          {[]string{"*", "serviceaccount"}, "garbage-collector-controller namespace-controller serviceaccount-controller"},
		"minus and a star is none":        {[]string{None}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := validate(c.names); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range selected(c.names) {
				got = append(got, c.name)
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("selected %q, want %q", got, c.want)
			}
		})
	}
}

func TestUnknownControllersAreNamed(t *testing.T) {
	err := Config{Enabled: []string{"*", "-namespaces", "namespace"}}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`controller "-namespaces" is unknown: use *, or `, "namespace-controller (namespace)", "(--controllers)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
