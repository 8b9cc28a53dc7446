package job

import "testing"

func TestIndexes(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "0": "0", "1,2": "1,2", "1-2": "1,2", "1-3,5,7-9": "1-3,5,7-9", "5,1,2,3": "1-3,5", "x,2,3-y": "2",
	} {
		if got := parseIndexes(text).String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
