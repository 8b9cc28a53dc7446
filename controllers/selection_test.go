package controllers

import (
	"strings"
	"testing"
)

func TestSelection(t *testing.T) {
	const byDefault = "certificatesigningrequest-cleaner-controller flowschema-controller garbage-collector-controller namespace-controller ttl-after-finished-controller"
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"nil is the default":              {nil, byDefault},
		"an empty list is none":           {[]string{}, ""},
		"a star is the default":           {[]string{"*"}, byDefault},
		"minus and a name removes":        {[]string{"*", "-ttl-after-finished-controller"}, strings.TrimSuffix(byDefault, " ttl-after-finished-controller")},
		"aliases":                         {[]string{"*", "-ttl-after-finished"}, strings.TrimSuffix(byDefault, " ttl-after-finished-controller")},
		"names without a star":            {[]string{"namespace"}, "namespace-controller"},
		"the first entry about it counts": {[]string{"-namespace", "namespace"}, ""},
		"a controller that * excludes":    {[]string{"namespace", "serviceaccount"}, "namespace-controller serviceaccount-controller"},
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
