package main

import "testing"

func TestFeatureGatesFlag(t *testing.T) {
	var g featureGates
	for _, text := range []string{"A=true, kube:B=false", "C=1,", "A=false"} {
		if err := g.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := g.String(), "A=false,B=false,C=true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		"A":             "missing bool value for A",
		"A=maybe":       `invalid value of A=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"wardle:A=true": "component not registered: wardle",
	} {
		if err := g.Set(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
