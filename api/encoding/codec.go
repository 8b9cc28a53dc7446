package encoding

import (
	"mime"
)

// Codec holds the media types of a server, the preferred one first. It is immutable.
type Codec struct {
	mediaTypes []MediaType
}

// NewCodec returns the codec of the Go types in the scheme of a configuration.
func NewCodec(config Config) *Codec {
	return &Codec{mediaTypes: newMediaTypes(config)}
}

// JSON returns the media type of JSON, the default of requests and responses.
func (c *Codec) JSON() *MediaType { return &c.mediaTypes[0] }

// ForContentType returns the media type that a Content-Type header names, JSON for an empty
// header, or a 415.
func (c *Codec) ForContentType(header string) (*MediaType, error) {
	if header == "" {
		return c.JSON(), nil
	}
	if mediaType, _, err := mime.ParseMediaType(header); err == nil {
		for i := range c.mediaTypes {
			if c.mediaTypes[i].Type == mediaType {
				return &c.mediaTypes[i], nil
			}
		}
	}
	return nil, UnsupportedMediaType(c.types())
}

// types lists the media types for error texts.
func (c *Codec) types() []string {
	var types []string
	for _, m := range c.mediaTypes {
		types = append(types, m.Type)
	}
	return types
}

// watchTypes lists the media types of watches for error texts.
func (c *Codec) watchTypes() []string {
	var types []string
	for _, m := range c.mediaTypes {
		if m.Stream != "" {
			types = append(types, m.watchType)
		}
	}
	return types
}
