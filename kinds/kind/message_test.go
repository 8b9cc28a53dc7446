package kind_test

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
)

func TestMessageIsPartOfTheBytesAtRest(t *testing.T) {
	codec := configMaps()
	data, err := codec.Encode(configMap())
	if err != nil {
		t.Fatal(err)
	}
	want, err := configMap().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := codec.Message(data); !ok || !bytes.Equal(want, got) {
		t.Errorf("got %q (%v), want %q", got, ok, want)
	}
}

func TestMessageIsUnavailableIfDecodingChangesTheObject(t *testing.T) {
	writer := configMaps()
	stored, err := writer.Encode(configMap())
	if err != nil {
		t.Fatal(err)
	}
	typed := bytes.Clone(stored)
	typed = append(typed[:len(typed)-1], 1, 'x') // a content type
	for name, c := range map[string]struct {
		data   []byte
		change func(*kind.Codec)
	}{
		"JSON":               {data: []byte(`{"apiVersion":"v1","kind":"ConfigMap"}`)},
		"nothing":            {},
		"truncated":          {data: stored[:20]},
		"another encoding":   {data: typed},
		"an old version":     {data: stored, change: func(c *kind.Codec) { c.Kind.Version = "v2" }},
		"another group":      {data: stored, change: func(c *kind.Codec) { c.Kind.Group = "apps" }},
		"another kind":       {data: stored, change: func(c *kind.Codec) { c.Kind.Kind = "Secret" }},
		"a Restore function": {data: stored, change: func(c *kind.Codec) { c.Restore = func(runtime.Object) {} }},
	} {
		codec := configMaps()
		if c.change != nil {
			c.change(&codec)
		}
		if got, ok := codec.Message(c.data); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}
