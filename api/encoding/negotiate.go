package encoding

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Format is the negotiated form of a response.
type Format struct {
	MediaType *MediaType
	// As is the kind that objects are transformed to: Table, PartialObjectMetadata or
	// PartialObjectMetadataList. Empty: objects are sent as they are.
	As schema.GroupVersionKind
	// Pretty reports whether the client asked for indented output.
	Pretty bool
}

// Restriction reports whether an endpoint can send a media type with a transformation; as is
// empty for none.
type Restriction func(m *MediaType, as schema.GroupVersionKind) bool

// NoTransformation is the restriction of endpoints that send objects as they are.
func NoTransformation(_ *MediaType, as schema.GroupVersionKind) bool { return as.Empty() }

// WithColumns is the restriction of endpoints whose objects have table columns.
func WithColumns(m *MediaType, as schema.GroupVersionKind) bool {
	switch {
	case as.Empty():
		return true
	case as.GroupVersion() != metav1.SchemeGroupVersion && as.GroupVersion() != metav1beta1.SchemeGroupVersion:
		return false
	case as.Kind == "Table":
		return m.tables
	}
	return as.Kind == "PartialObjectMetadata" || as.Kind == "PartialObjectMetadataList"
}

// WithoutColumns is the restriction of endpoints whose objects have no table columns.
func WithoutColumns(m *MediaType, as schema.GroupVersionKind) bool {
	return as.Kind != "Table" && WithColumns(m, as)
}

// CustomResources is the restriction of endpoints whose objects have table columns but no Go type,
// and therefore no protobuf encoding.
func CustomResources(m *MediaType, as schema.GroupVersionKind) bool {
	return WithColumns(m, as) && (!as.Empty() || m.Type != runtime.ContentTypeProtobuf)
}

// Negotiate returns the format of a response: the first clause of the Accept header, in the order
// of weights, that allowed permits. It returns a 406 if there is none.
func (c *Codec) Negotiate(r *http.Request, allowed Restriction) (Format, error) {
	header := r.Header.Get("Accept")
	if header == "" {
		return Format{MediaType: c.JSON(), Pretty: wantsPretty(r)}, nil
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		for i := range c.mediaTypes {
			m := &c.mediaTypes[i]
			if !Accepts(clause, m.Type) {
				continue
			}
			if f, ok := formatOf(m, clause.Params, allowed); ok {
				f.Pretty = f.Pretty || wantsPretty(r)
				return f, nil
			}
		}
	}
	return Format{}, notAcceptable(c.types())
}

// NegotiateWatch is Negotiate for a watch, which needs a media type with watch frames.
func (c *Codec) NegotiateWatch(r *http.Request, allowed Restriction) (Format, error) {
	f, err := c.Negotiate(r, allowed)
	if err == nil && f.MediaType.Stream == "" {
		err = notAcceptable(c.watchTypes())
	}
	return f, err
}

// Accepts reports whether a clause of an Accept header includes a media type.
func Accepts(clause goautoneg.Accept, mediaType string) bool {
	main, sub, _ := strings.Cut(mediaType, "/")
	switch clause.SubType {
	case sub:
		return clause.Type == main
	case "*":
		return clause.Type == main || clause.Type == "*"
	}
	return false
}

// formatOf returns the format that the parameters of a clause describe. ok is false if it is not
// supported.
func formatOf(m *MediaType, params map[string]string, allowed Restriction) (f Format, ok bool) {
	f = Format{MediaType: m}
	for name, value := range params {
		switch name {
		case "as":
			f.As.Kind = value
		case "g":
			f.As.Group = value
		case "v":
			f.As.Version = value
		case "pretty":
			f.Pretty = value == "1"
		case "stream":
			if value != "" && (m.Stream == "" || value != "watch") {
				return Format{}, false
			}
		case "sv":
			if value != "" && value != metav1.SchemeGroupVersion.Version {
				return Format{}, false
			}
		}
	}
	return f, allowed(m, f.As)
}

// wantsPretty reports whether the query asks for indented output. Without the parameter it is
// the default for curl, Wget and browsers.
func wantsPretty(r *http.Request) bool {
	if value := r.URL.Query().Get("pretty"); value != "" {
		pretty, _ := strconv.ParseBool(value)
		return pretty
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}
