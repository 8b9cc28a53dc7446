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

// Clients make one HTTP client for all webhooks that are reached the same way,
// so that they share connections. Safe for concurrent use.
type Clients struct {
	resolve ResolveFunc
	conns   *connections

	mu    sync.Mutex // guards known
	known map[endpoint]*http.Client
}

// NewClients returns clients that find Services by resolve.
func NewClients(resolve ResolveFunc) *Clients {
	return &Clients{resolve: resolve, conns: newConnections(), known: map[endpoint]*http.Client{}}
}

// Client returns a client of a webhook, whose answers the serializer reads.
func (c *Clients) Client(target Target, answers runtime.NegotiatedSerializer) (*rest.RESTClient, error) {
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
		ContentConfig:  rest.ContentConfig{ContentType: runtime.ContentTypeJSON, NegotiatedSerializer: answers},
	}, shared)
}

// Forget closes idle connections to a webhook. Clients of it may go on.
func (c *Clients) Forget(target Target) {
	to, _, err := target.endpoint()
	if err != nil {
		return
	}
	c.mu.Lock()
	known := c.known[to]
	delete(c.known, to)
	c.mu.Unlock()
	if known != nil {
		known.CloseIdleConnections()
	}
}

func (c *Clients) shared(to endpoint) (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[to]; ok {
		return known, nil
	}
	transport, err := c.transport(to)
	if err != nil {
		return nil, err
	}
	c.known[to] = newClient(transport)
	return c.known[to], nil
}

// transport speaks HTTP/2 on loopback only: behind any other name there may be
// several servers, which one connection would not reach.
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

		MaxResponseHeaderBytes: maxAnswerHeader,
		IdleConnTimeout:        90 * time.Second,
		ForceAttemptHTTP2:      loopback.IsHost(to.name),
	}
	if to.service != (Service{}) {
		t.DialContext = c.conns.dialService(c.resolve, to.service)
	}
	return t, nil
}

// Close ends all connections, those that are being made too. There are no new
// ones afterwards.
func (c *Clients) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.known {
		client.CloseIdleConnections()
	}
	c.conns.close()
}
