// Package tracing adds spans to requests, in the data model of OpenTelemetry. A request that is
// sampled has a span in its context; [Start] adds a child for a layer. Without such a span Start
// does nothing, so the layers need no configuration.
//
// Package export, below, sends spans to a collector.
package tracing
