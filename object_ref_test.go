package miniapi

import (
	"strings"
	"testing"
)

// A reference is an error, or names a type and an object.
func FuzzParseObjectRef(f *testing.F) {
	for _, seed := range []string{"deploy/web", "deployments.apps/default/web", "a//b", "/", "a", "a/b/c/d", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := parseObjectRef(text)
		if err != nil {
			return
		}
		if joined := strings.ReplaceAll(ref.kind+"/"+ref.namespace+"/"+ref.name, "//", "/"); ref.kind == "" || ref.name == "" || joined != text {
			t.Errorf("%q is read as %+v", text, ref)
		}
	})
}
