package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/outgoing"
)

// The versions of the reviews that are sent.
const (
	V1      = "v1"
	V1beta1 = "v1beta1"
)

const (
	// cacheSize is the maximum number of cached answers.
	cacheSize = 8192
	// attempts is the maximum number of requests for a review.
	attempts = 5
	// defaultTimeout is the default of ClientConfig.Timeout.
	defaultTimeout = 30 * time.Second
	// defaultRetryDelay is the default of ClientConfig.RetryDelay.
	defaultRetryDelay = 500 * time.Millisecond
)

// ClientConfig names a server.
type ClientConfig struct {
	// Kubeconfig is the path of a kubeconfig, whose current context names the server and the
	// credentials for it.
	Kubeconfig string
	// Timeout limits a request. Default: 30 s.
	Timeout time.Duration
	// RetryDelay is the time before the first repetition of a request. Default: 500 ms.
	RetryDelay time.Duration
	// Dialer has the connections.
	Dialer *outgoing.Dialer
	// Observe receives the duration and the error of each request. Nil: nothing is observed.
	Observe func(ctx context.Context, took time.Duration, err error)
}

// Client sends reviews to the server of a kubeconfig. It is safe for concurrent use.
type Client struct {
	rest       *rest.RESTClient
	transport  *http.Transport
	retryDelay time.Duration
	observe    func(ctx context.Context, took time.Duration, err error)
}

// NewClient loads the kubeconfig. It sends nothing.
func NewClient(config ClientConfig) (*Client, error) {
	restConfig, err := webhookutil.LoadKubeconfig(config.Kubeconfig, nil)
	if err != nil {
		return nil, fmt.Errorf("webhook configuration %s: %w", config.Kubeconfig, err)
	}
	restConfig.Timeout = cmp.Or(config.Timeout, defaultTimeout)
	tlsConfig, err := rest.TLSConfigFor(restConfig)
	if err != nil {
		return nil, fmt.Errorf("webhook configuration %s: %w", config.Kubeconfig, err)
	}
	c := &Client{observe: config.Observe, retryDelay: cmp.Or(config.RetryDelay, defaultRetryDelay), transport: &http.Transport{
		Proxy:               config.Dialer.Proxy,
		DialContext:         config.Dialer.DialContext,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
	}}
	client := outgoing.NewClient(c.transport)
	client.Timeout = restConfig.Timeout
	if client.Transport, err = rest.HTTPWrappersForConfig(restConfig, client.Transport); err != nil {
		return nil, fmt.Errorf("webhook configuration %s: %w", config.Kubeconfig, err)
	}
	restConfig.ContentConfig = rest.ContentConfig{
		ContentType:          runtime.ContentTypeJSON,
		NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
	}
	c.rest, err = rest.UnversionedRESTClientForConfigAndClient(restConfig, client)
	return c, err
}

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.transport.CloseIdleConnections() }

// review posts a review of a kind and decodes the answer, which must have the same kind, into
// answer. As in kube-apiserver, a request is repeated after some errors.
func (c *Client) review(ctx context.Context, kind schema.GroupVersionKind, review, answer any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	backoff := wait.Backoff{Duration: c.retryDelay, Factor: 1.5, Jitter: 0.2, Steps: attempts}
	var data []byte
	err = webhookutil.WithExponentialBackoff(ctx, backoff, func() (err error) {
		started := time.Now()
		data, err = c.rest.Post().Body(body).Do(ctx).Raw()
		if c.observe != nil {
			c.observe(ctx, time.Since(started), err)
		}
		return err
	}, webhookutil.DefaultShouldRetry)
	if err != nil {
		return err
	}
	var got metav1.TypeMeta
	if err := json.Unmarshal(data, &got); err != nil {
		return fmt.Errorf("decode the answer of the webhook: %w", err)
	}
	if got.GroupVersionKind() != kind {
		return fmt.Errorf("the webhook answered with kind %q of %q instead of %q of %q", got.Kind, got.APIVersion, kind.Kind, kind.GroupVersion())
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("decode the answer of the webhook: %w", err)
	}
	return nil
}

// validateVersion returns the error of kube-apiserver for an unknown version of a review. subject
// is the part of the server that sends it.
func validateVersion(subject, version string) error {
	if version == V1 || version == V1beta1 {
		return nil
	}
	return fmt.Errorf("unsupported %s version %q, supported versions are %q, %q", subject, version, V1, V1beta1)
}
