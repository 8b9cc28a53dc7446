package encoding

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/storage"
)

// MediaType is a row of the table of media types.
type MediaType struct {
	// Type is the name in Accept and Content-Type headers.
	Type string
	// Text reports whether documents are text.
	Text bool
	// Stream is the content type of a watch, "" if the media type has no watch frames.
	Stream string
	// tables reports whether Tables can be sent in this media type.
	tables bool
	// form identifies the output of encode. Media types may share a form.
	form   storage.Form
	encode encodeFunc
	// stamped reports whether encode returns the bytes of [storage.Entry.Stamped]: stored protobuf
	// with the resourceVersion.
	stamped bool
	// wrap puts a body under a type header. The start of the document is appended to dst.
	wrap func(dst []byte, header metav1.TypeMeta, b Body) Document
	// list writes a list item by item; rewrite is applied to its output.
	list func(w io.Writer, l List) error
	// frame makes one frame of a watch, as wrap makes a document. message makes the content of a
	// frame without its length. Nil: frame has no length.
	frame, message frameFunc
	// rewrite converts a whole document to the media type. Nil: documents are sent as they are.
	rewrite func(document []byte) ([]byte, error)
	// indent returns a writer that indents documents and writes them to w. Nil: the media type
	// has no indented form.
	indent func(w io.Writer) io.Writer
	// lax and strict decode; strict reports unknown and duplicate fields.
	lax, strict runtime.Serializer
}

// frameFunc appends the start of an event to dst.
type frameFunc = func(dst []byte, eventType string, header metav1.TypeMeta, b Body) Document

// encodeFunc encodes an object without apiVersion and kind.
type encodeFunc = func(obj runtime.Object) ([]byte, error)

// newMediaTypes returns the table of media types, the preferred one first.
func newMediaTypes(scheme *runtime.Scheme) []MediaType {
	table := []MediaType{
		{
			Type: runtime.ContentTypeJSON, Stream: runtime.ContentTypeJSON, Text: true, tables: true,
			form: "json", encode: jsonBody, wrap: jsonWrap, list: jsonList, frame: jsonFrame, indent: newIndenter,
		},
		{
			Type: runtime.ContentTypeYAML, Text: true, tables: true,
			form: "json", encode: jsonBody, wrap: jsonWrap, list: jsonList, rewrite: yaml.JSONToYAML,
		},
		{
			Type: runtime.ContentTypeProtobuf, Stream: runtime.ContentTypeProtobuf + ";stream=watch",
			form: "protobuf", encode: protobufBody, stamped: true,
			wrap: protobufWrap, list: protobufList, frame: protobufFrame, message: protobufEvent,
		},
	}
	decoders := serializer.NewCodecFactory(scheme).SupportedMediaTypes()
	for i := range table {
		info, _ := runtime.SerializerInfoForMediaType(decoders, table[i].Type)
		switch table[i].Type {
		case runtime.ContentTypeJSON:
			table[i].lax, table[i].strict = jsonDecoder(scheme, false), jsonDecoder(scheme, true)
		case runtime.ContentTypeProtobuf:
			table[i].lax, table[i].strict = boundedProtobuf{info.Serializer}, boundedProtobuf{info.StrictSerializer}
		default:
			table[i].lax, table[i].strict = info.Serializer, info.StrictSerializer
		}
	}
	return table
}
