// Package export sends spans to a collector by OTLP over gRPC, as the TracingConfiguration of
// kube-apiserver selects.
package export

import (
	"context"
	"fmt"
	"os"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/component-base/tracing"
	tracingv1 "k8s.io/component-base/tracing/api/v1"
	"sigs.k8s.io/yaml"
)

// apiVersions are the accepted versions of a TracingConfiguration.
var apiVersions = []string{"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1"}

// Config configures an Exporter.
type Config struct {
	// File has the TracingConfiguration. Empty: spans are not exported.
	File string
}

// Validate returns the error of the file.
func (c Config) Validate() error {
	if c.File == "" {
		return nil
	}
	_, err := c.read()
	return err
}

func (c Config) read() (*tracingv1.TracingConfiguration, error) {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return nil, fmt.Errorf("--tracing-config-file: %w: use the path of a TracingConfiguration of %s", err, apiVersions[0])
	}
	return parse(c.File, data)
}

// parse returns the TracingConfiguration in the content of a file.
func parse(file string, data []byte) (*tracingv1.TracingConfiguration, error) {
	var config apiserverv1.TracingConfiguration
	if err := yaml.UnmarshalStrict(data, &config); err != nil {
		return nil, fmt.Errorf("--tracing-config-file %s: %w", file, err)
	}
	if config.Kind != "TracingConfiguration" || !slices.Contains(apiVersions, config.APIVersion) {
		return nil, fmt.Errorf("--tracing-config-file %s: it has %s %s, use kind TracingConfiguration of %s", file, config.APIVersion, config.Kind, apiVersions[0])
	}
	if errs := tracingv1.ValidateTracingConfiguration(&config.TracingConfiguration, nil, field.NewPath("")); len(errs) > 0 {
		return nil, fmt.Errorf("--tracing-config-file %s: %w", file, errs.ToAggregate())
	}
	return &config.TracingConfiguration, nil
}

// Exporter makes the spans of a server and sends them in the background.
type Exporter struct{ provider tracing.TracerProvider }

// Open returns an Exporter, nil without a file. The caller must call Close. Open does not wait for
// the collector.
func Open(ctx context.Context, config Config, version string) (*Exporter, error) {
	if config.File == "" {
		return nil, nil
	}
	read, err := config.read()
	if err != nil {
		return nil, err
	}
	attributes := resource.WithAttributes(attribute.String("service.name", "miniapi"), attribute.String("service.version", version))
	provider, err := tracing.NewProvider(ctx, read, nil, []resource.Option{attributes})
	if err != nil {
		return nil, fmt.Errorf("--tracing-config-file %s: %w", config.File, err)
	}
	return &Exporter{provider}, nil
}

// Provider returns the provider of spans, nil for a nil Exporter.
func (e *Exporter) Provider() trace.TracerProvider {
	if e == nil {
		return nil
	}
	return e.provider
}

// Close sends the spans that are left, until ctx ends. It does nothing for a nil Exporter.
func (e *Exporter) Close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	return e.provider.Shutdown(ctx)
}
