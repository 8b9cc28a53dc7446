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
	// watchType is the name of Stream in the texts of errors.
	watchType string
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
	// list writes a list item by item. listBytes is the memory that it takes besides one item.
	list      func(w io.Writer, l List) error
	listBytes int
	// frame makes one frame of a watch, as wrap makes a document. message makes the content of a
	// frame without its length. Nil: frame has no length.
	frame, message frameFunc
	// rewrite converts a document that is no list to the media type. Nil: documents are sent as
	// they are.
	rewrite func(document []byte) ([]byte, error)
	// indent returns a writer that indents documents and writes them to w. Nil: the media type
	// has no indented form.
	indent func(w io.Writer) io.Writer
	// check returns a 400 for a body that is nested too deep, and a 413 for a body that decodes to
	// much more than its size. Nil: the decoders check it.
	check func(body []byte) error
	// reportsPruned reports whether the fields that are pruned from custom resources are unknown
	// fields for field validation. As in kube-apiserver they are not in CBOR.
	reportsPruned bool
	// lax and strict decode; strict reports unknown and duplicate fields.
	lax, strict runtime.Serializer
}

// frameFunc appends the start of an event to dst.
type frameFunc = func(dst []byte, eventType string, header metav1.TypeMeta, b Body) Document

// encodeFunc encodes an object without apiVersion and kind.
type encodeFunc = func(obj runtime.Object) ([]byte, error)

// newMediaTypes returns the table of media types, the preferred one first.
func newMediaTypes(config Config) []MediaType {
	table := []MediaType{
		{
			Type: runtime.ContentTypeJSON, Stream: runtime.ContentTypeJSON, watchType: runtime.ContentTypeJSON + ";stream=watch",
			Text: true, tables: true,
			form: "json", encode: jsonBody, wrap: jsonWrap, list: jsonList, frame: jsonFrame, indent: newIndenter,
			check: CheckDepth, reportsPruned: true,
		},
		{
			Type: runtime.ContentTypeYAML, Text: true, tables: true,
			form: "json", encode: jsonBody, wrap: jsonWrap, list: yamlList, listBytes: yamlBatch, rewrite: yaml.JSONToYAML,
			check: checkYAMLBody, reportsPruned: true,
		},
		{
			Type: runtime.ContentTypeProtobuf, Stream: runtime.ContentTypeProtobuf + ";stream=watch",
			watchType: runtime.ContentTypeProtobuf + ";stream=watch",
			form:      "protobuf", encode: protobufBody, stamped: true,
			wrap: protobufWrap, list: protobufList, frame: protobufFrame, message: protobufEvent,
		},
	}
	decoders := serializer.NewCodecFactory(config.Scheme).SupportedMediaTypes()
	for i := range table {
		info, _ := runtime.SerializerInfoForMediaType(decoders, table[i].Type)
		switch table[i].Type {
		case runtime.ContentTypeJSON:
			table[i].lax, table[i].strict = jsonDecoder(config.Scheme, false), jsonDecoder(config.Scheme, true)
		case runtime.ContentTypeProtobuf:
			table[i].lax, table[i].strict = boundedProtobuf{info.Serializer}, boundedProtobuf{info.StrictSerializer}
		default:
			table[i].lax, table[i].strict = info.Serializer, info.StrictSerializer
		}
	}
	if config.CBOR {
		table = append(table, cborMediaType(config.Scheme))
	}
	return table
}
