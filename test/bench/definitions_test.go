package bench

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/miniapi/miniapi"
)

// aggregatedDiscovery is the media type of the discovery document of all groups.
const aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// BenchmarkDefinitions measures a request for a document right after the creation of one more
// CustomResourceDefinition among many. The document was requested before, so its earlier
// content is built.
func BenchmarkDefinitions(b *testing.B) {
	for _, n := range []int{100, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newDefinitions(b, n)
			b.Run("discovery", func(b *testing.B) { f.measure(b, "/apis", aggregatedDiscovery) })
			b.Run("index", func(b *testing.B) { f.measure(b, "/openapi/v3", "*/*") })
			b.Run("v3", func(b *testing.B) { f.measure(b, "/openapi/v3/apis/group-0.example.com/v1", "*/*") })
			b.Run("v2", func(b *testing.B) { f.measure(b, "/openapi/v2", "*/*") })
			b.Run("v2-protobuf", func(b *testing.B) {
				f.measure(b, "/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
			})
		})
	}
}

// BenchmarkAllDefinitions measures the first request for a document on a server with 500
// CustomResourceDefinitions, none of which is described yet.
func BenchmarkAllDefinitions(b *testing.B) {
	for _, document := range []struct{ name, path, accept string }{
		{"index", "/openapi/v3", "*/*"},
		{"v2", "/openapi/v2", "*/*"},
		{"v2-protobuf", "/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
	} {
		b.Run(document.name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				f := newDefinitions(b, 500)
				before := cpuTime(b)
				b.StartTimer()
				f.read(document.path, document.accept)
				b.ReportMetric(milliseconds(cpuTime(b)-before), "cpu-ms/op")
			}
		})
	}
}

// definitions is a server with many definitions.
type definitions struct {
	fixture
	base  string // URL of the server
	count int
}

func newDefinitions(b *testing.B, n int) *definitions {
	b.Helper()
	server, err := miniapi.Start(b.Context(), miniapi.Config{})
	if err != nil {
		b.Fatal(err)
	}
	f := &definitions{base: server.URL(), fixture: fixture{b: b, server: server, http: &http.Client{Transport: &http.Transport{DisableCompression: true}}}}
	b.Cleanup(func() {
		f.http.CloseIdleConnections()
		if err := server.Stop(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	began := time.Now()
	for range n {
		f.define()
	}
	b.Logf("%d definitions in %v", n, time.Since(began))
	return f
}

// measure requests a document after each new definition.
func (f *definitions) measure(b *testing.B, path, accept string) {
	f.read(path, accept)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		f.define()
		b.StartTimer()
		f.read(path, accept)
	}
}

func (f *definitions) read(path, accept string) {
	req, err := http.NewRequest(http.MethodGet, f.base+path, nil)
	if err != nil {
		f.b.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	if err := f.do(req); err != nil {
		f.b.Fatal(err)
	}
}

// define adds a definition; ten of them share a group.
func (f *definitions) define() {
	body := fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"things%[1]d.group-%[2]d.example.com"},
		"spec":{"group":"group-%[2]d.example.com","scope":"Namespaced",
			"names":{"plural":"things%[1]d","singular":"thing%[1]d","kind":"Thing%[1]d"},
			"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
				"schema":{"openAPIV3Schema":{"type":"object","properties":{
					"spec":{"type":"object","required":["size"],"properties":{
						"size":{"type":"integer","minimum":1,"description":"how many there are"},
						"color":{"type":"string","default":"red","enum":["red","green"]},
						"tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
						"parts":{"type":"array","items":{"type":"object","properties":{
							"name":{"type":"string","maxLength":63},"weight":{"type":"integer"},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}},
					"status":{"type":"object","properties":{"phase":{"type":"string"},"observed":{"type":"integer"}}}}}}}]}}`, f.count, f.count/10)
	f.count++
	if err := f.send(http.MethodPost, f.base+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body); err != nil {
		f.b.Fatal(err)
	}
}
