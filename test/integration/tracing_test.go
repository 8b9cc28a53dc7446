package integration_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// spanCollector receives spans by OTLP.
type spanCollector struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex // guards spans
	spans []*tracev1.Span
}

// Export implements collector.TraceServiceServer.
func (c *spanCollector) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range r.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// path returns the names of a span of a trace and of the spans above it.
func (c *spanCollector) path(trace, name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.spans, func(s *tracev1.Span) bool { return s.Name == name && hex.EncodeToString(s.TraceId) == trace })
	var names []string
	for at >= 0 {
		span := c.spans[at]
		names = append(names, span.Name)
		at = slices.IndexFunc(c.spans, func(s *tracev1.Span) bool { return string(s.SpanId) == string(span.ParentSpanId) })
	}
	return names
}

func startCollector(t *testing.T) (*spanCollector, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	c, server := &spanCollector{}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, c)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends with Stop
	t.Cleanup(func() { server.Stop(); serving.Wait() })
	return c, listener.Addr().String()
}

// A request with a sampled traceparent has a span for each layer; a request without one has none if
// the rate is 0.
func TestTracing(t *testing.T) {
	c, address := startCollector(t)
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	check(t, os.WriteFile(file, fmt.Appendf(nil, "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: %s\nsamplingRatePerMillion: 0\n", address), 0o600))
	server, err := miniapi.Start(t.Context(), miniapi.Config{TracingConfigFile: file})
	check(t, err)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	url := server.URL() + "/api/v1/namespaces/default/configmaps"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"metadata":{"name":"a"}}`))
	check(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	check(t, res.Body.Close())
	request(t, http.MethodPost, url, "application/json", `{"metadata":{"name":"b"}}`)
	check(t, servertest.Stop(server)) // sends the spans

	want := []string{"etcd Txn", "storage create", "registry create", "HTTP POST"}
	if got := c.path(trace, "etcd Txn"); !slices.Equal(got, want) {
		t.Errorf("the spans are %q, want %q", got, want)
	}
	for _, span := range c.spans {
		if hex.EncodeToString(span.TraceId) != trace {
			t.Errorf("the span %s belongs to a request that is not sampled", span.Name)
		}
	}
}

func TestTracingConfigurationIsValidated(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"another kind":      {"apiVersion: v1\nkind: Pod\n", "use kind TracingConfiguration of apiserver.config.k8s.io/v1"},
		"a rate above one":  {"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: 1000001\n", "less than or equal to one million"},
		"an unknown field":  {"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nrate: 1\n", `unknown field "rate"`},
		"an empty endpoint": {"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: 'http://['\n", "endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "tracing.yaml")
			check(t, os.WriteFile(file, []byte(test.content), 0o600))
			if err := (miniapi.Config{TracingConfigFile: file}).Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
