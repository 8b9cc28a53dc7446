package oidc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"reflect"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/user"
	upstream "k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/outgoing"
)

// retiredTimeout is the time that requests in progress have to end after a reload, as in
// kube-apiserver.
const retiredTimeout = time.Minute

// Authenticator verifies the tokens of the configured issuers. It is safe for concurrent use.
type Authenticator struct {
	config   Config
	dialer   *outgoing.Dialer
	latency  *prometheus.HistogramVec
	lifetime context.Context
	cancel   context.CancelFunc
	initial  *apiserver.AuthenticationConfiguration
	current  *certs.Reloaded[*issuers]
}

// issuers has an authenticator for each issuer of one content of the file.
type issuers struct {
	tokens  []observedTokens
	clients []*http.Client
	cancel  context.CancelFunc
}

// New loads the configuration. It sends nothing. The caller must call Close.
func New(config Config) (*Authenticator, error) {
	a := &Authenticator{config: config, dialer: outgoing.NewDialer(config.Outgoing), latency: newLatency()}
	a.lifetime, a.cancel = context.WithCancel(context.Background())
	var files []string
	if config.File != "" {
		files = append(files, config.File)
	}
	var err error
	if a.initial, err = config.load(); err == nil {
		var previous *issuers
		a.current, err = certs.Reload(func() (*issuers, error) {
			next, err := a.newIssuers()
			if err == nil {
				previous.retire()
				previous = next
			}
			return next, err
		}, config.Logger, files...)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close ends the requests to issuers and closes the connections. No token may be identified
// afterwards.
func (a *Authenticator) Close() {
	a.cancel()
	a.dialer.Close()
}

// Identify returns the user of a token. It returns nil and no error if no configured issuer has
// issued the token.
func (a *Authenticator) Identify(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	for _, authenticator := range a.current.Get().tokens {
		response, ok, err := authenticator.authenticate(ctx, token)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return userInfo(response.User), nil
		}
	}
	return nil, nil
}

func userInfo(from user.Info) *authenticationv1.UserInfo {
	out := &authenticationv1.UserInfo{Username: from.GetName(), UID: from.GetUID(), Groups: from.GetGroups()}
	for key, values := range from.GetExtra() {
		if out.Extra == nil {
			out.Extra = map[string]authenticationv1.ExtraValue{}
		}
		out.Extra[key] = values
	}
	return out
}

// newIssuers loads the configuration. As in kube-apiserver, a reload cannot change the
// authentication of anonymous requests.
func (a *Authenticator) newIssuers() (*issuers, error) {
	config, err := a.config.load()
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(config.Anonymous, a.initial.Anonymous) {
		return nil, field.Forbidden(field.NewPath("anonymous"), "changed from initial configuration file")
	}
	out := &issuers{}
	var ctx context.Context
	ctx, out.cancel = context.WithCancel(a.lifetime)
	for _, authenticator := range config.JWT {
		client, err := a.client(authenticator.Issuer)
		if err != nil {
			return nil, err
		}
		out.clients = append(out.clients, client)
		keys := newKeySet(ctx, client, authenticator.Issuer)
		authenticator.Issuer.DiscoveryURL = "" // the key set uses it
		token, err := upstream.New(ctx, upstream.Options{
			JWTAuthenticator:     authenticator,
			KeySet:               keys,
			Client:               client,
			SupportedSigningAlgs: a.config.algorithms(),
			DisallowedIssuers:    a.config.DisallowedIssuers,
		})
		if err != nil {
			out.cancel()
			return nil, err
		}
		out.tokens = append(out.tokens, a.observe(authenticator.Issuer.URL, token))
	}
	return out, nil
}

// retire ends the requests to the issuers when no token can need them any more.
func (i *issuers) retire() {
	if i == nil {
		return
	}
	time.AfterFunc(retiredTimeout, func() {
		i.cancel()
		for _, client := range i.clients {
			client.CloseIdleConnections()
		}
	})
}

// client returns a client of an issuer.
func (a *Authenticator) client(issuer apiserver.Issuer) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if issuer.CertificateAuthority != "" {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM([]byte(issuer.CertificateAuthority)) // valid
	}
	client := outgoing.NewClient(&http.Transport{
		Proxy:               a.dialer.Proxy,
		DialContext:         a.dialer.DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     30 * time.Second,
	})
	client.Timeout = a.config.timeout()
	return client, nil
}
