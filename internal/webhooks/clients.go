package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/loopback"
	"github.com/miniapi/miniapi/internal/outgoing"
)

// Clients creates clients of webhooks. Webhooks with the same endpoint share an HTTP client and its
// connections. It is safe for concurrent use.
type Clients struct {
	resolve     ResolveFunc
	conns       *outgoing.Dialer
	credentials Credentials

	mu    sync.Mutex // guards cache
	cache map[endpoint]cachedClient
}

// cachedClient is a client and its connections.
type cachedClient struct {
	*http.Client
	conns *http.Transport
}

// NewClients returns clients that resolve Services with a function, for the addresses that a policy
// allows. Nil credentials: the clients are anonymous.
func NewClients(resolve ResolveFunc, policy *outgoing.Policy, credentials Credentials) *Clients {
	return &Clients{resolve: resolve, conns: outgoing.NewDialer(policy), credentials: credentials, cache: map[endpoint]cachedClient{}}
}

// Client returns a client of a webhook. The serializer decodes the responses.
func (c *Clients) Client(target Target, serializer runtime.NegotiatedSerializer) (*rest.RESTClient, error) {
	to, path, err := target.endpoint()
	if err != nil {
		return nil, err
	}
	shared, err := c.shared(to)
	if err != nil {
		return nil, err
	}
	return rest.UnversionedRESTClientForConfigAndClient(&rest.Config{
		Host:           to.scheme + "://" + to.host,
		APIPath:        path,
		QPS:            -1, // no limit
		WarningHandler: rest.NoWarnings{},
		ContentConfig:  rest.ContentConfig{ContentType: runtime.ContentTypeJSON, NegotiatedSerializer: serializer},
	}, shared)
}

// Forget removes a webhook from the cache and closes its idle connections. Existing clients remain
// usable.
func (c *Clients) Forget(target Target) {
	to, _, err := target.endpoint()
	if err != nil {
		return
	}
	c.mu.Lock()
	client, ok := c.cache[to]
	delete(c.cache, to)
	c.mu.Unlock()
	if ok {
		client.conns.CloseIdleConnections()
	}
}

func (c *Clients) shared(to endpoint) (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client, ok := c.cache[to]; ok {
		return client.Client, nil
	}
	transport, err := c.transport(to)
	if err != nil {
		return nil, err
	}
	credentials, err := c.credentialsFor(to)
	if err != nil {
		return nil, err
	}
	client := outgoing.NewClient(transport)
	if credentials != nil {
		if client.Transport, err = authenticate(credentials, transport.TLSClientConfig, client.Transport); err != nil {
			return nil, err
		}
	}
	c.cache[to] = cachedClient{client, transport}
	return client, nil
}

// transport returns a transport for an endpoint. It uses HTTP/2 only for loopback hosts. Other
// names may have several servers, and a single HTTP/2 connection would reach only one of them.
func (c *Clients) transport(to endpoint) (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: to.name}
	if to.roots != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(to.roots)) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	t := &http.Transport{
		Proxy:               c.conns.Proxy,
		DialContext:         c.conns.DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   loopback.IsHost(to.name),
	}
	if to.service != (Service{}) {
		t.Proxy = nil // a proxy cannot resolve the name of a Service
		t.DialContext = c.dialService(to.service)
	}
	return t, nil
}

// dialService returns a function that resolves a Service and dials its address.
func (c *Clients) dialService(service Service) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		address, err := c.resolve(ctx, service)
		if err != nil {
			return nil, err
		}
		return c.conns.DialContext(ctx, network, address)
	}
}

// Close closes all connections and aborts those being established. Clients cannot connect
// afterwards.
func (c *Clients) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.cache {
		client.conns.CloseIdleConnections()
	}
	c.conns.Close()
}
