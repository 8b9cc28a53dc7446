package suggest

import "testing"

func TestNearest(t *testing.T) {
	candidates := []string{"minimal", "full", "AlwaysAllow", "RBAC", "Node", "LimitRanger", "v"}
	for word, want := range map[string]string{
		"minmal":      "minimal",     // a missing letter
		"minimall":    "minimal",     // a letter too many
		"minumal":     "minimal",     // another letter
		"RABC":        "RBAC",        // two swapped letters
		"rbac":        "RBAC",        // another case
		"alwaysalow":  "AlwaysAllow", // both
		"LimitRanges": "LimitRanger",
		"z":           "",
		"w":           "", // not v
		"":            "",
		"webhook":     "",
	} {
		if got := Nearest(word, candidates); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	if got := DidYouMean("ful", []string{"minimal", "full"}); got != `: did you mean "full"?` {
		t.Error(got)
	}
	if got := DidYouMean("nothing", []string{"minimal", "full"}); got != "" {
		t.Error(got)
	}
}
