package api

import (
	"io"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/storage"
)

// media is one way to write objects down: a row of the table of media types.
type media struct {
	// Type is what clients call it in Accept and Content-Type.
	Type string
	// Stream is the content type of a watch. "": it cannot be watched.
	Stream string
	// tables tells whether Tables are sent in it.
	tables bool
	// form names the encoding of bodies, which encode makes. Media types may
	// share one.
	form   storage.Form
	encode encodeFunc
	// stamps: the form is the protobuf encoding.
	stamps bool
	// wrap puts a body under a type header. The start of the document is
	// appended to dst.
	wrap func(dst []byte, header metav1.TypeMeta, b encoded) document
	// list writes a list item by item, where rewrite is nil.
	list func(w io.Writer, l listing) error
	// frame makes one piece of a watch stream, as wrap makes a document.
	frame func(dst []byte, eventType string, header metav1.TypeMeta, b encoded) document
	// rewrite makes what is sent of a whole document; nil: nothing is left to
	// be done.
	rewrite func(document []byte) ([]byte, error)
	// indent returns a writer that formats documents for people and writes them
	// to w; nil: they are readable as they are, or binary.
	indent func(w io.Writer) io.Writer
	// lax and strict decode; strict reports unknown and duplicate fields.
	lax, strict runtime.Serializer
}

// encodeFunc encodes an object without apiVersion and kind.
type encodeFunc = func(obj runtime.Object) ([]byte, error)

// listing is a list to be written.
type listing struct {
	header metav1.TypeMeta
	meta   metav1.ListMeta
	// allMeta shows metadata that is empty too.
	allMeta bool
	// items can be ranged over several times, with the same result.
	items iter.Seq2[encoded, error]
	// itemHeader is put in front of every item; the empty one is left out.
	itemHeader metav1.TypeMeta
}

// newMediaTable returns the media types in the order of preference.
func newMediaTable(scheme *runtime.Scheme) []media {
	table := []media{
		{
			Type: runtime.ContentTypeJSON, Stream: runtime.ContentTypeJSON, tables: true,
			form: "json", encode: jsonBody, wrap: jsonWrap, list: jsonList, frame: jsonFrame, indent: newIndenter,
		},
		{
			Type: runtime.ContentTypeYAML, tables: true,
			form: "json", encode: jsonBody, wrap: jsonWrap, list: jsonList, rewrite: yaml.JSONToYAML,
		},
		{
			Type: runtime.ContentTypeProtobuf, Stream: runtime.ContentTypeProtobuf + ";stream=watch",
			form: "protobuf", encode: protobufBody, stamps: true,
			wrap: protobufWrap, list: protobufList, frame: protobufFrame,
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
