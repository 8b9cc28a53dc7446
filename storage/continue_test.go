package storage_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/storage"
)

func TestContinueTokenResumesAfterTheLastKey(t *testing.T) {
	for _, lastKey := range []string{"/registry/pods/web", "/registry/pods/ns1/web", "/registry/pods/a-b.c/\u00e9"} {
		token, err := storage.EncodeContinue(lastKey, "/registry/pods/", 1353)
		if err != nil {
			t.Fatal(err)
		}
		from, revision, err := storage.DecodeContinue(token, "/registry/pods/")
		if err != nil || from != lastKey+"\x00" || revision != 1353 {
			t.Errorf("after %q the list continues at %q, revision %d (%v)", lastKey, from, revision, err)
		}
	}
}

func TestContinueTokenHasTheFormatOfKubeAPIServer(t *testing.T) {
	const recorded = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTM1Mywic3RhcnQiOiIvbDJcdTAwMDAifQ"
	prefix := "/registry/configmaps/x-lists/"
	from, revision, err := storage.DecodeContinue(recorded, prefix)
	if err != nil || from != prefix+"l2\x00" || revision != 1353 {
		t.Errorf("the token decodes to %q, %d (%v)", from, revision, err)
	}
	ours, err := storage.EncodeContinue(prefix+"l2", prefix, 1353)
	if err != nil || ours != recorded {
		t.Errorf("our token is %q (%v), want %q", ours, err, recorded)
	}
}

func TestEncodeContinueRejectsAKeyOutsideThePrefix(t *testing.T) {
	if token, err := storage.EncodeContinue("/registry/secrets/a", "/registry/pods/", 1); err == nil {
		t.Errorf("the token is %q", token)
	}
}

func encoded(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }

func TestDecodeContinue(t *testing.T) {
	cases := []struct {
		name, token, message string // message of the error, "" for none
	}{
		{"a slash at the start is optional", encoded(`{"v":"meta.k8s.io/v1","rv":1,"start":"a"}`), ""},
		{"a negative revision means the latest", encoded(`{"v":"meta.k8s.io/v1","rv":-1,"start":"/a"}`), ""},
		{"empty", "", "unexpected end of JSON input"},
		{"not base64", "%%%", "illegal base64 data at input byte 0"},
		{"not JSON", encoded("no"), "invalid character 'o' in literal null (expecting 'u')"},
		{"another version", encoded(`{"v":"v2","rv":1,"start":"/a"}`), "server does not recognize this encoded version v2"},
		{"no revision", encoded(`{"v":"meta.k8s.io/v1","start":"/a"}`), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
		{"no key", encoded(`{"v":"meta.k8s.io/v1","rv":1}`), "encoded start key empty (version meta.k8s.io/v1)"},
		{"a path out of the prefix", encoded(`{"v":"meta.k8s.io/v1","rv":1,"start":"/../secrets/a"}`), "/../secrets/a"},
		{"a path out of the prefix and back", encoded(`{"v":"meta.k8s.io/v1","rv":1,"start":"a/../../secrets"}`), "a/../../secrets"},
		{"a dot segment", encoded(`{"v":"meta.k8s.io/v1","rv":1,"start":"/./a"}`), "/./a"},
		{"an empty segment", encoded(`{"v":"meta.k8s.io/v1","rv":1,"start":"//a"}`), "//a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from, _, err := storage.DecodeContinue(c.token, "/registry/pods/")
			if c.message == "" {
				if err != nil || from != "/registry/pods/a" {
					t.Errorf("the list continues at %q (%v)", from, err)
				}
				return
			}
			if !errors.Is(err, storage.ErrInvalidContinue) || err.Error() != "continue key is not valid: "+c.message {
				t.Errorf("error is %v, want %s", err, c.message)
			}
		})
	}
}

func FuzzDecodeContinue(f *testing.F) {
	for _, start := range []string{"/a", "a", "/a/b", "../x", "/..", "/", "//", "/a\x00", "\u2215.."} {
		for _, revision := range []int64{-1, 0, 7} {
			f.Add(encoded(fmt.Sprintf(`{"v":"meta.k8s.io/v1","rv":%d,"start":%q}`, revision, start)))
		}
	}
	f.Add("")
	f.Add("%")
	const prefix = "/registry/pods/ns1/"
	f.Fuzz(func(t *testing.T, token string) {
		from, revision, err := storage.DecodeContinue(token, prefix)
		if err != nil {
			if !errors.Is(err, storage.ErrInvalidContinue) {
				t.Errorf("%v is not %v", err, storage.ErrInvalidContinue)
			}
			return
		}
		if !strings.HasPrefix(from, prefix) || revision == 0 {
			t.Errorf("the list continues at %q, revision %d", from, revision)
		}
		for _, part := range strings.Split(strings.TrimPrefix(from, prefix), "/") {
			if part == ".." || part == "." {
				t.Errorf("the list continues at %q", from)
			}
		}
	})
}
