package faults

import (
	"testing"
	"time"
)

// A file of faults is an error, or faults that can be validated; valid faults can be stored.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"- match: {verbs: [update], resources: [pods], count: 2}\n  effect: {conflict: {}}\n",
		"apiVersion: miniapi.dev/v1alpha1\nkind: Fault\nmetadata: {name: a}\nspec:\n  match: {labelSelector: 'a in (b,c)'}\n  effect: {latency: {duration: 1s, jitter: 2s}}\n",
		`{"kind":"List","items":[{"kind":"Fault","spec":{"effect":{"watch":{"closeAfter":-1}}}}]}`,
		"- effect: {status: {code: 700}}\n", "- null\n", "---\n", "{",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		list, err := Decode([]byte(data))
		if err != nil || Validate(list) != nil {
			return
		}
		for _, fault := range list {
			if _, err := newObject(fault, time.Time{}); err != nil {
				t.Errorf("a valid fault cannot be stored: %v", err)
			}
		}
	})
}
