package api

import (
	"mime"

	"k8s.io/apimachinery/pkg/runtime"
)

// codec knows the media types and the Go types behind the bodies.
//
// Invariant: it does not change.
type codec struct {
	scheme *runtime.Scheme
	table  []media
}

func newCodec(scheme *runtime.Scheme) *codec {
	return &codec{scheme: scheme, table: newMediaTable(scheme)}
}

// types lists the media types of bodies, for errors.
func (c *codec) types() []string {
	var types []string
	for _, m := range c.table {
		types = append(types, m.Type)
	}
	return types
}

// streamTypes lists the media types of watches, for errors.
func (c *codec) streamTypes() []string {
	var types []string
	for _, m := range c.table {
		if m.Stream != "" {
			types = append(types, m.Type+";stream=watch")
		}
	}
	return types
}

// ofContentType finds the media type of a request's body; none is JSON.
func (c *codec) ofContentType(header string) (*media, error) {
	if header == "" {
		return &c.table[0], nil
	}
	if mediaType, _, err := mime.ParseMediaType(header); err == nil {
		for i := range c.table {
			if c.table[i].Type == mediaType {
				return &c.table[i], nil
			}
		}
	}
	return nil, unsupportedMediaType(c.types())
}
