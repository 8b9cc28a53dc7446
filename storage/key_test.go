package storage_test

import (
	"testing"

	"github.com/miniapi/miniapi/storage"
)

func TestCheckKey(t *testing.T) {
	for key, want := range map[string]string{
		"":                 `empty key: ""`,
		"/":                `empty key: "/"`,
		"pods":             `invalid key: "pods" does not begin with a slash`,
		"/pods/..":         `invalid key: "/pods/.."`,
		"/pods/../secrets": `invalid key: "/pods/../secrets"`,
		"/pods/./a":        `invalid key: "/pods/./a"`,
		"/pods/ns/a":       "",
		"/pods/":           "",
		"/pods/ns/a..b":    "",
	} {
		got := ""
		if err := storage.CheckKey(key); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("CheckKey(%q) is %q, want %q", key, got, want)
		}
	}
}
