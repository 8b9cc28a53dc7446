package encryption

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// The errors of a file are those of kube-apiserver, and contain no secret.
func TestFileErrors(t *testing.T) {
	cbc := keys("aescbc", "key1", secret1)
	for name, tc := range map[string]struct{ content, want string }{
		"empty":                       {"", "the file is empty"},
		"no YAML":                     {"{", "yaml"},
		"no kind":                     {strings.Replace(configuration("secrets", cbc), "kind: EncryptionConfiguration\n", "", 1), "the file has no kind or apiVersion"},
		"no version":                  {strings.Replace(configuration("secrets", cbc), "apiVersion: apiserver.config.k8s.io/v1\n", "", 1), "the file has no kind or apiVersion"},
		"another kind":                {"apiVersion: v1\nkind: Secret\n", `no kind "Secret" is registered for version "v1"`},
		"another configuration":       {"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: []\n", "the file contains a AuthenticationConfiguration instead of an EncryptionConfiguration"},
		"an unknown field":            {configuration("secrets", "aescbc: {keys: [{name: key1, secrets: "+secret1+"}]}"), `unknown field "resources[0].providers[0].aescbc.keys[0].secrets"`},
		"no resources":                {"apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: []\n", "resources: Required value: at least one resources is required"},
		"two providers in one":        {configuration("secrets", cbc+"\n    "+keys("aesgcm", "key2", secret2)), "resources[0].providers[0]: Invalid value: more than one provider specified in a single element, should split into different list elements"},
		"no provider":                 {configuration("secrets", "{}"), "resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"},
		"a secret that is not base64": {configuration("secrets", keys("aescbc", "key1", secret1+"!")), `resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`},
		"a short secret":              {configuration("secrets", keys("secretbox", "key1", "MDEyMzQ1Njc4OWFiY2RlZg==")), `secret is not of the expected length, got 16, expected one of [32]`},
		"a secret that is a number":   {configuration("secrets", keys("secretbox", "key1", "1234567890")), "secret"},
		"a masked resource":           {configuration("'*.*'", cbc) + entry("secrets", cbc), `resources[1].resources[0]: Invalid value: "secrets": resource is masked by earlier rule "*.*"`},
		"a masked core resource":      {configuration("'*.'", cbc) + entry("secrets", cbc), `resources[1].resources[0]: Invalid value: "secrets": resource is masked by earlier rule "*."`},
		"overlapping resources":       {configuration("secrets, '*.'", cbc), "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"},
		"resource.*":                  {configuration("'secrets.*'", cbc), "encrypting the same resource across groups is not supported"},
		"allocations":                 {configuration("serviceipallocations", cbc), "resources which do not have REST API/s cannot be encrypted"},
		"KMS version 1":               {configuration("secrets", "kms: {name: a, endpoint: 'unix:///a'}"), `resources[0].providers[0].kms.apiVersion: Unsupported value: "v1": supported values: "v2"`},
		"KMS over TCP":                {configuration("secrets", "kms: {apiVersion: v2, name: a, endpoint: 'tcp://a'}"), `unsupported scheme "tcp" for KMS provider, only unix is supported`},
		"KMS names must be unique":    {configuration("secrets", kms("a", "/a"), kms("a", "/b")), "duplicate KMS provider name a, names must be unique"},
	} {
		t.Run(name, func(t *testing.T) {
			config := Config{File: write(t, filepath.Join(t.TempDir(), "config.yaml"), tc.content)}
			err := config.Validate()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want %s", err, tc.want)
			}
			if _, openErr := Open(t.Context(), config); openErr == nil || openErr.Error() != err.Error() {
				t.Errorf("Open returns %v, Validate %v", openErr, err)
			}
			if text := err.Error(); strings.Contains(text, secret1[:12]) || strings.Contains(text, secret2[:12]) {
				t.Errorf("the error contains a secret: %s", text)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	if err := (Config{File: "/does/not/exist"}).Validate(); err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Error(err)
	}
	if err := (Config{AutomaticReload: true}).Validate(); err == nil {
		t.Error("a reload without a file is valid")
	}
}

// FuzzDecode checks that no file leads to a panic or to an error with its secret.
func FuzzDecode(f *testing.F) {
	f.Add(configuration("secrets", keys("aescbc", "key1", secret1)))
	f.Add(configuration("'*.*'", kms("a", "/a"), identityProvider))
	f.Add(configuration("secrets, a.*", keys("secretbox", "key1", "a"), "{}"))
	f.Add(configuration("secrets, widgets.example.com", keys("aesgcm", "key1", secret1), keys("secretbox", "key2", secret2), kms("a", "/a"), identityProvider) +
		entry("'*.apps'", "aescbc: {keys: [{name: new, secret: "+secret2+"}, {name: old, secret: "+secret1+"}]}"))
	f.Add(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration","resources":[{"providers":[{"kms":null,"aesgcm":{}}]}]}`)
	m := newMetrics()
	f.Fuzz(func(t *testing.T, content string) {
		config, err := decode([]byte(content))
		if err != nil {
			names := runtime.IsStrictDecodingError(err) || runtime.IsNotRegisteredError(err)
			if !names && strings.Contains(err.Error(), secret1[:12]) {
				t.Errorf("the error contains a secret: %v", err)
			}
			return
		}
		if len(validate(config, true)) > 0 {
			return
		}
		p, err := newProviders(&file{resources: config.Resources}, m)
		if err != nil {
			t.Fatalf("a valid file cannot be used: %v", err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
}
