package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc"
	"k8s.io/apiserver/pkg/apis/apiserver"
)

const (
	// defaultTimeout is the default of Config.Timeout. It is shorter than the 30 s of
	// kube-apiserver, because a client waits for the first request.
	defaultTimeout = 10 * time.Second
	// discoveryInterval is the minimum time between two discoveries of an issuer.
	discoveryInterval = time.Second
)

// keySet has the keys of an issuer. Its first use discovers the address of the keys. It implements
// oidc.KeySet and is safe for concurrent use.
type keySet struct {
	ctx       context.Context
	issuer    string
	discovery string
	client    *http.Client

	// lock guards the fields below. It is a channel, so that waiting ends with a request.
	lock   chan struct{}
	keys   oidc.KeySet // nil before a successful discovery
	failed error       // the result of the last discovery
	tried  time.Time
}

func newKeySet(ctx context.Context, client *http.Client, issuer apiserver.Issuer) *keySet {
	discovery := issuer.DiscoveryURL
	if discovery == "" {
		discovery = strings.TrimSuffix(issuer.URL, "/") + "/.well-known/openid-configuration"
	}
	return &keySet{ctx: oidc.ClientContext(ctx, client), issuer: issuer.URL, discovery: discovery, client: client, lock: make(chan struct{}, 1)}
}

// VerifySignature implements oidc.KeySet. It returns the payload of a token.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	keys, err := k.discovered(ctx)
	if err != nil {
		return nil, err
	}
	return keys.VerifySignature(ctx, token)
}

// discovered returns the keys behind the discovered address.
func (k *keySet) discovered(ctx context.Context) (oidc.KeySet, error) {
	select {
	case k.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-k.lock }()
	if k.keys != nil || k.failed != nil && time.Since(k.tried) < discoveryInterval {
		return k.keys, k.failed
	}
	address, err := k.discover()
	k.tried, k.failed = time.Now(), err
	if err != nil {
		k.failed = fmt.Errorf("discovery of the issuer: %w", err)
		return nil, k.failed
	}
	k.keys = oidc.NewRemoteKeySet(k.ctx, address)
	return k.keys, nil
}

// discover returns the address of the keys.
func (k *keySet) discover() (string, error) {
	request, err := http.NewRequestWithContext(k.ctx, http.MethodGet, k.discovery, nil)
	if err != nil {
		return "", err
	}
	response, err := k.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("GET %s: %s", k.discovery, response.Status)
	}
	var provider struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	switch err := json.Unmarshal(body, &provider); {
	case err != nil:
		return "", fmt.Errorf("GET %s: %w", k.discovery, err)
	case provider.Issuer != k.issuer:
		return "", fmt.Errorf("issuer did not match the issuer returned by provider, expected %q got %q", k.issuer, provider.Issuer)
	case provider.Keys == "":
		return "", errors.New("provider did not return JWKS URL")
	}
	return provider.Keys, nil
}
