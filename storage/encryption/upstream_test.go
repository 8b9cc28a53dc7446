package encryption

import (
	"crypto/aes"
	"encoding/base64"
	"errors"
	"testing"

	"k8s.io/apiserver/pkg/storage/value"
	aesvalue "k8s.io/apiserver/pkg/storage/value/encrypt/aes"
	"k8s.io/apiserver/pkg/storage/value/encrypt/secretbox"
)

// Values are readable by the prefix transformers that kube-apiserver builds from the same file.
func TestUpstreamTransformersReadValues(t *testing.T) {
	secret, err := base64.StdEncoding.DecodeString(secret1)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := aesvalue.NewGCMTransformer(block)
	if err != nil {
		t.Fatal(err)
	}
	const key, data = "/registry/secrets/default/a", "a value of any length"
	for provider, transformer := range map[string]value.Transformer{
		"aescbc": aesvalue.NewCBCTransformer(block), "aesgcm": gcm, "secretbox": secretbox.NewSecretboxTransformer([32]byte(secret)),
	} {
		missing := errors.New("no match")
		upstream := value.NewPrefixTransformers(missing, value.PrefixTransformer{
			Prefix:      []byte("k8s:enc:" + provider + ":v1:"),
			Transformer: value.NewPrefixTransformers(missing, value.PrefixTransformer{Prefix: []byte("key1:"), Transformer: transformer}),
		})
		stored := open(t, configuration("secrets", keys(provider, "key1", secret1))).mustEncrypt(t, key, data)
		got, stale, err := upstream.TransformFromStorage(t.Context(), []byte(stored), value.DefaultContext(key))
		if err != nil || stale || string(got) != data {
			t.Errorf("%s: got %q, stale %v, error %v", provider, got, stale, err)
		}
	}
}
