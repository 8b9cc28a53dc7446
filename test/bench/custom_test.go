package bench

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// definition returns a definition in the group example.com whose only version v1 has a schema
// with these properties, in JSON.
func definition(plural, kind, properties string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"%[1]s","kind":%[2]q},"versions":[{"name":"v1","served":true,"storage":true,
		"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":%[3]s}}}]}}`, plural, kind, properties)
}

func (f *fixture) define(plural, kind, properties string) {
	f.b.Helper()
	if err := f.send(http.MethodPost, f.server.URL()+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(plural, kind, properties)); err != nil {
		f.b.Fatal(err)
	}
}

func (f *fixture) custom(plural string) string {
	return f.server.URL() + "/apis/example.com/v1/namespaces/default/" + plural
}

func custom(kind, name string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":%q,"metadata":{"name":%q},"spec":{"data":{"payload":%q,"extra":""},"min":1,"max":2}}`, kind, name, payload)
}

const (
	plainSpec = `{"spec":{"type":"object","required":["data"],"properties":{"min":{"type":"integer"},"max":{"type":"integer","default":5},
		"data":{"type":"object","additionalProperties":{"type":"string"}}}}}`
	ruledSpec = `{"spec":{"type":"object","required":["data"],"x-kubernetes-validations":[{"rule":"self.min <= self.max"},{"rule":"size(self.data) < 10"}],
		"properties":{"min":{"type":"integer","x-kubernetes-validations":[{"rule":"self >= 0"}]},"max":{"type":"integer","default":5},
		"data":{"type":"object","maxProperties":16,"additionalProperties":{"type":"string","maxLength":4096}}}}}`
)

// BenchmarkCustomCreate measures a POST of a custom resource, without and with validation
// rules, beside a POST of a ConfigMap of the same size.
func BenchmarkCustomCreate(b *testing.B) {
	for name, properties := range map[string]string{"plain": plainSpec, "rules": ruledSpec} {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b)
			f.define("widgets", "Widget", properties)
			compare(b, &side{name: "custom", workers: 1, do: func(_, i int) error {
				return f.send(http.MethodPost, f.custom("widgets"), custom("Widget", fmt.Sprintf("c%d", i)))
			}}, &side{name: "configmap", workers: 1, do: func(_, i int) error {
				return f.send(http.MethodPost, f.url(""), configMap(fmt.Sprintf("c%d", i), ""))
			}})
		})
	}
}

// BenchmarkDefine measures the time from the POST of a definition, by size of its schema, until
// its resource has answered a list.
func BenchmarkDefine(b *testing.B) {
	for _, fields := range []int{10, 1000} {
		b.Run(fmt.Sprintf("fields%d", fields), func(b *testing.B) {
			f := newFixture(b)
			properties := wideSchema(fields)
			for i := 0; b.Loop(); i++ {
				plural := fmt.Sprintf("widgets%d", i)
				f.define(plural, fmt.Sprintf("Widget%d", i), properties)
				if err := f.send(http.MethodGet, f.custom(plural), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIdleDefinitions measures the memory of an unused definition, in a process with five
// hundred of them.
func BenchmarkIdleDefinitions(b *testing.B) {
	const count = 500
	for b.Loop() {
		f := newFixture(b)
		f.define("first", "First", wideSchema(50))
		before := liveHeap()
		started := time.Now()
		for i := range count {
			f.define(fmt.Sprintf("widgets%d", i), fmt.Sprintf("Widget%d", i), wideSchema(50))
		}
		b.ReportMetric(float64(time.Since(started).Milliseconds())/count, "ms/definition")
		b.ReportMetric(float64(liveHeap()-before)/count/1024, "KiB/definition")
		b.ReportMetric(float64(len(wideSchema(50)))/1024, "KiB/schema")
	}
}

// liveHeap collects garbage twice, because finalizers keep their objects for one collection.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// wideSchema returns a schema like those of controller-gen: described fields, every tenth one
// an object with three fields.
func wideSchema(fields int) string {
	var text strings.Builder
	text.WriteString(`{"spec":{"type":"object","description":"Spec defines the desired state.","properties":{`)
	for i := range fields {
		if i > 0 {
			text.WriteByte(',')
		}
		const words = "It is a field of the specification, which says in some words what it is good for and which values make sense."
		if i%10 == 9 {
			fmt.Fprintf(&text, `"object%d":{"type":"object","description":%q,"properties":{"name":{"type":"string","minLength":1},"port":{"type":"integer","format":"int32"},"tags":{"type":"array","items":{"type":"string"}}},"required":["name"]}`, i, words)
			continue
		}
		fmt.Fprintf(&text, `"field%d":{"type":"string","description":%q}`, i, words)
	}
	text.WriteString(`}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`)
	return text.String()
}
