package webhooks

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/loopback"
)

// Clients creates clients of webhooks. Webhooks with the same endpoint share an HTTP client and its
// connections. It is safe for concurrent use.
type Clients struct {
	resolve ResolveFunc
	conns   *connections

	mu    sync.Mutex // guards cache
	cache map[endpoint]*http.Client
}

// NewClients returns clients that resolve Services with a function.
func NewClients(resolve ResolveFunc) *Clients {
	return &Clients{resolve: resolve, conns: newConnections(), cache: map[endpoint]*http.Client{}}
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
	client := c.cache[to]
	delete(c.cache, to)
	c.mu.Unlock()
	if client != nil {
		client.CloseIdleConnections()
	}
}

func (c *Clients) shared(to endpoint) (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client, ok := c.cache[to]; ok {
		return client, nil
	}
	transport, err := c.transport(to)
	if err != nil {
		return nil, err
	}
	c.cache[to] = newClient(transport)
	return c.cache[to], nil
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
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         c.conns.dial,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,

		MaxResponseHeaderBytes: maxHeaderBytes,
		IdleConnTimeout:        90 * time.Second,
		ForceAttemptHTTP2:      loopback.IsHost(to.name),
	}
	if to.service != (Service{}) {
		t.DialContext = c.conns.dialService(c.resolve, to.service)
	}
	return t, nil
}

// Close closes all connections and aborts those being established. Clients cannot connect
// afterwards.
func (c *Clients) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.cache {
		client.CloseIdleConnections()
	}
	c.conns.close()
}
