package encryption

import (
	"crypto/aes"
	"encoding/base64"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/storage/value"
	aesvalue "k8s.io/apiserver/pkg/storage/value/encrypt/aes"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/apiserver/pkg/storage/value/encrypt/secretbox"
)

// The prefixes of stored values. The name of the key follows, or of the KMS provider.
const (
	aescbcPrefix    = "k8s:enc:aescbc:v1:"
	aesgcmPrefix    = "k8s:enc:aesgcm:v1:"
	secretboxPrefix = "k8s:enc:secretbox:v1:"
	kmsPrefix       = "k8s:enc:kms:v2:"
)

// providers are the providers of a configuration.
type providers struct {
	chains rules[*chain]
	kms    []*kmsProvider
	hash   string // of the file
}

// newProviders returns the providers of a file. It opens the connections of the KMS providers, but
// sends nothing.
func newProviders(f *file, m *metrics) (*providers, error) {
	p := &providers{chains: rules[*chain]{}, hash: f.hash}
	for _, entry := range f.resources {
		var links []link
		for _, config := range entry.Providers {
			next, err := p.newLink(config, m)
			if err != nil {
				return nil, errors.Join(err, p.close())
			}
			links = append(links, next)
		}
		for _, name := range entry.Resources {
			resource := schema.ParseGroupResource(name)
			c := p.chains[resource]
			if c == nil {
				c = &chain{missing: errNoPrefix, metrics: m}
				p.chains[resource] = c
			}
			c.links = append(c.links, links...)
		}
	}
	return p, nil
}

// newLink returns the transformer of a provider and its prefix.
func (p *providers) newLink(config apiserver.ProviderConfiguration, m *metrics) (link, error) {
	switch {
	case config.AESCBC != nil:
		keys, err := newKeys(config.AESCBC.Keys, newCBC)
		return link{aescbcPrefix, &chain{keys, errNoAESKey, m}}, err
	case config.AESGCM != nil:
		keys, err := newKeys(config.AESGCM.Keys, newGCM)
		return link{aesgcmPrefix, &chain{keys, errNoAESKey, m}}, err
	case config.Secretbox != nil:
		keys, err := newKeys(config.Secretbox.Keys, newSecretbox)
		return link{secretboxPrefix, &chain{keys, errNoSecretbox, m}}, err
	case config.KMS != nil:
		provider, err := newKMSProvider(config.KMS)
		if err != nil {
			return link{}, err
		}
		p.kms = append(p.kms, provider)
		return link{kmsPrefix + config.KMS.Name + ":", provider.transformer()}, nil
	default:
		return link{"", identity.NewEncryptCheckTransformer()}, nil
	}
}

// newKeys returns a link for each key of a provider.
func newKeys(keys []apiserver.Key, newCipher func(secret []byte) (value.Transformer, error)) ([]link, error) {
	var links []link
	for _, key := range keys {
		secret, err := base64.StdEncoding.DecodeString(key.Secret)
		if err != nil {
			return nil, fmt.Errorf("key %s: the secret is not base64", key.Name)
		}
		transformer, err := newCipher(secret)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key.Name, err)
		}
		links = append(links, link{key.Name + ":", transformer})
	}
	return links, nil
}

func newCBC(secret []byte) (value.Transformer, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return aesvalue.NewCBCTransformer(block), nil
}

func newGCM(secret []byte) (value.Transformer, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return aesvalue.NewGCMTransformer(block)
}

func newSecretbox(secret []byte) (value.Transformer, error) {
	var key [32]byte
	if len(secret) != len(key) {
		return nil, fmt.Errorf("the secret has %d bytes instead of %d", len(secret), len(key))
	}
	copy(key[:], secret)
	return secretbox.NewSecretboxTransformer(key), nil
}

// close closes the connections of the KMS providers.
func (p *providers) close() error {
	var errs []error
	for _, provider := range p.kms {
		errs = append(errs, provider.close())
	}
	return errors.Join(errs...)
}
