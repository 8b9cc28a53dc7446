package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// clients make one HTTP client for all webhooks that are reached the same way,
// so that they share connections.
type clients struct {
	resolve ResolveFunc
	conns   *connections

	mu    sync.Mutex // guards known
	known map[endpoint]*http.Client
}

// endpoint is what connections can be shared by.
type endpoint struct {
	host    string // with a port
	name    string // in the certificate
	roots   string // the CA bundle; "": those of the system
	service Service
}

func newClients(resolve ResolveFunc) *clients {
	return &clients{resolve: resolve, conns: newConnections(), known: map[endpoint]*http.Client{}}
}

// client returns how a webhook is called.
func (c *clients) client(config admissionregistrationv1.WebhookClientConfig) (*rest.RESTClient, error) {
	to, path, err := locate(config)
	if err != nil {
		return nil, err
	}
	shared, err := c.shared(to)
	if err != nil {
		return nil, err
	}
	return rest.UnversionedRESTClientForConfigAndClient(&rest.Config{
		Host:           "https://" + to.host,
		APIPath:        path,
		QPS:            -1, // no limit
		WarningHandler: rest.NoWarnings{},
		ContentConfig:  rest.ContentConfig{ContentType: runtime.ContentTypeJSON, NegotiatedSerializer: reviewSerializer()},
	}, shared)
}

// locate returns where a webhook is, and the path there.
func locate(config admissionregistrationv1.WebhookClientConfig) (endpoint, string, error) {
	to := endpoint{roots: string(config.CABundle)}
	if s := config.Service; s != nil {
		to.service = Service{Namespace: s.Namespace, Name: s.Name, Port: 443}
		if s.Port != nil {
			to.service.Port = *s.Port
		}
		to.name = s.Name + "." + s.Namespace + ".svc"
		to.host = net.JoinHostPort(to.name, strconv.Itoa(int(to.service.Port)))
		path := ""
		if s.Path != nil {
			path = *s.Path
		}
		return to, path, nil
	}
	if config.URL == nil {
		return to, "", errors.New("webhook configuration must have either service or URL")
	}
	u, err := url.Parse(*config.URL)
	if err != nil {
		return to, "", fmt.Errorf("Unparsable URL: %v", err) // the text of kube-apiserver
	}
	to.host, to.name = u.Host, u.Hostname()
	return to, u.Path, nil
}

func (c *clients) shared(to endpoint) (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[to]; ok {
		return known, nil
	}
	transport, err := c.transport(to)
	if err != nil {
		return nil, err
	}
	c.known[to] = &http.Client{Transport: transport}
	return c.known[to], nil
}

// transport speaks HTTP/2 on loopback only: behind any other name there may be
// several servers, which one connection would not reach.
func (c *clients) transport(to endpoint) (*http.Transport, error) {
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
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   isLoopback(to.name),
	}
	if to.service != (Service{}) {
		t.DialContext = c.conns.dialService(c.resolve, to.service)
	}
	return t, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// close ends all connections, those that are being made too.
func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.known {
		client.CloseIdleConnections()
	}
	c.conns.close()
}

// reviewSerializer reads the answers of webhooks. It is shared by the process.
var reviewSerializer = sync.OnceValue(func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(admissionv1.AddToScheme(scheme))
	utilruntime.Must(admissionv1beta1.AddToScheme(scheme))
	return serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{
		Serializer: serializer.NewCodecFactory(scheme).LegacyCodec(admissionv1beta1.SchemeGroupVersion, admissionv1.SchemeGroupVersion),
	})
})
