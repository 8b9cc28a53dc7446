package encryption

import (
	"strings"
	"testing"
)

const secretKey = "/registry/secrets/default/a"

// The first provider writes, all providers read, and values of another provider or key are stale.
func TestProviders(t *testing.T) {
	old := open(t, configuration("secrets", keys("aescbc", "old", secret1)))
	stored := old.mustEncrypt(t, secretKey, "value")
	for name, tc := range map[string]struct {
		providers []string
		plain     bool // the stored value is not encrypted
		stale     bool
		err       string
	}{
		"the same key":                  {providers: []string{keys("aescbc", "old", secret1)}},
		"another provider comes first":  {providers: []string{keys("aesgcm", "new", secret2), keys("aescbc", "old", secret1)}, stale: true},
		"another key comes first":       {providers: []string{"aescbc: {keys: [{name: new, secret: " + secret2 + "}, {name: old, secret: " + secret1 + "}]}"}, stale: true},
		"two providers of one type":     {providers: []string{keys("aescbc", "new", secret2), keys("aescbc", "old", secret1)}, stale: true},
		"two keys of one name":          {providers: []string{keys("aescbc", "old", secret2), keys("aescbc", "old", secret1)}, stale: true},
		"identity comes first":          {providers: []string{identityProvider, keys("aescbc", "old", secret1)}, stale: true},
		"a plain value":                 {providers: []string{keys("aescbc", "old", secret1), identityProvider}, plain: true, stale: true},
		"a plain value, identity first": {providers: []string{identityProvider, keys("aescbc", "old", secret1)}, plain: true},
		"a plain value without identity": {
			providers: []string{keys("aescbc", "old", secret1)}, plain: true,
			err: "no matching prefix found: no provider of secrets in the encryption configuration reads values that are not encrypted",
		},
		"no provider of the type": {
			providers: []string{keys("secretbox", "old", secret1)},
			err:       "no matching prefix found: no provider of secrets in the encryption configuration reads values with the prefix k8s:enc:aescbc:v1:old:",
		},
		"only identity": {
			providers: []string{identityProvider},
			err:       "no matching prefix found: no provider of secrets in the encryption configuration reads values with the prefix k8s:enc:aescbc:v1:old:",
		},
		"no key of the name":      {providers: []string{keys("aescbc", "new", secret1)}, err: "no matching key was found for the provided AES transformer"},
		"another key of the name": {providers: []string{keys("aescbc", "old", secret2)}, err: "inva"},
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, configuration("secrets", tc.providers...))
			value := stored
			if tc.plain {
				value = "value"
			}
			if tc.err != "" {
				e.expectError(t, secretKey, value, tc.err)
				return
			}
			e.expect(t, secretKey, value, "value", tc.stale)
			e.expect(t, secretKey, e.mustEncrypt(t, secretKey, "value"), "value", false)
		})
	}
}

// The most specific rule decides. Keys of no resource are never encrypted.
func TestRules(t *testing.T) {
	e := open(t, configuration("secrets", keys("aesgcm", "secrets", secret1))+
		entry("events", identityProvider)+
		entry("'*.'", keys("aesgcm", "core", secret1))+
		entry("'*.apps'", keys("aesgcm", "apps", secret1))+
		entry("widgets.example.com", keys("aesgcm", "widgets", secret1))+
		entry("'*.*'", keys("aesgcm", "rest", secret1)))
	for key, name := range map[string]string{
		"/registry/secrets/default/a":                                  "secrets",
		"/registry/configmaps/default/a":                               "core",
		"/registry/services/specs/default/a":                           "core",
		"/registry/events/default/a":                                   "",
		"/registry/deployments/default/a":                              "apps",
		"/registry/example.com/widgets/default/a":                      "widgets",
		"/registry/example.com/gadgets/default/a":                      "rest",
		"/registry/apiextensions.k8s.io/customresourcedefinitions/a.b": "rest",
		"/registry/ranges/serviceips":                                  "",
		"/registry/masterleases/127.0.0.1":                             "",
		"/registry/services/other/default/a":                           "",
	} {
		want := "value"
		if name != "" {
			want = "k8s:enc:aesgcm:v1:" + name + ":"
		}
		if got := e.mustEncrypt(t, key, "value"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: stored as %.60q, want %s", key, got, want)
		}
	}
}

// Two entries for one resource are one list of providers.
func TestTwoEntriesOfOneResource(t *testing.T) {
	old := open(t, configuration("secrets", keys("aescbc", "old", secret1)))
	e := open(t, configuration("secrets", keys("aescbc", "new", secret2))+entry("secrets", keys("aescbc", "old", secret1)))
	e.expect(t, secretKey, old.mustEncrypt(t, secretKey, "value"), "value", true)
}

// The error for a resource without a rule names the provider that has encrypted the value.
func TestEncryptedValueWithoutRule(t *testing.T) {
	stored := open(t, configuration("secrets", keys("aescbc", "old", secret1))).mustEncrypt(t, secretKey, "value")
	open(t, configuration("configmaps", identityProvider)).expectError(t, secretKey, stored,
		"identity transformer tried to read encrypted data: the value has the prefix k8s:enc:aescbc:v1:old:, and the encryption configuration has no provider for secrets")
}
