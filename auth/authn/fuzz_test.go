package authn

import (
	"slices"
	"strings"
	"testing"
)

// A token file is an error, or all of its tokens are known.
func FuzzTokenFile(f *testing.F) {
	for _, seed := range []string{"token,user,uid\n", "t,u,1,\"a,b\"\n\n# no comment,u,1\n", "t,u\n", "\"", ",,\n", "t,u,1,\",\"\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		var tokens StaticTokens
		if err := tokens.addRecords("tokens.csv", strings.NewReader(data)); err != nil {
			return
		}
		if id, err := tokens.Identify(t.Context(), ""); err != nil || id != nil {
			t.Errorf("the empty token belongs to %v: %v", id, err)
		}
	})
}

// A key file is an error, or has a key.
func FuzzParseKeys(f *testing.F) {
	for _, seed := range []string{
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n",
		"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n", "-----BEGIN X-----\n-----END X-----\n", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if keys, err := parseKeys("key.pem", []byte(data)); err == nil && len(keys) == 0 {
			t.Error("no key and no error")
		}
	})
}

// A WebSocket handshake is an error, or its subprotocols without the token.
func FuzzSplitProtocols(f *testing.F) {
	for _, seed := range []string{
		tokenProtocol + "YWJj, v4.channel.k8s.io", tokenProtocol + "%", "a," + tokenProtocol, tokenProtocol + "YQ," + tokenProtocol + "Yg", "0" + tokenProtocol, ",", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, protocols string) {
		_, others, err := splitProtocols([]string{protocols})
		isToken := func(name string) bool { return strings.HasPrefix(name, tokenProtocol) }
		if err == nil && slices.ContainsFunc(others, isToken) {
			t.Errorf("a token is left in %q", others)
		}
	})
}
