package api

import (
	"io"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// media is one way to write objects down: a row of the table of media types.
type media struct {
	// Type is what clients call it in Accept and Content-Type.
	Type string
	// Stream is the content type of a watch. "": it cannot be watched.
	Stream string
	// tables tells whether Tables are sent in it.
	tables bool
	// object encodes one object under a type header; the object's own is
	// ignored.
	object func(header metav1.TypeMeta, obj runtime.Object) ([]byte, error)
	// list writes a list item by item.
	list func(w io.Writer, l listing) error
	// frame makes one piece of a watch stream out of an event's type and its
	// encoded object.
	frame func(eventType string, object []byte) []byte
	// pretty rewrites a document for the human eye; nil: it is readable, or
	// never will be.
	pretty func(document []byte) []byte
	// lax and strict decode; strict reports unknown and duplicate fields.
	lax, strict runtime.Serializer
}

// listing is a list to be written.
type listing struct {
	header metav1.TypeMeta
	meta   metav1.ListMeta
	// items can be ranged over several times.
	items iter.Seq2[runtime.Object, error]
	// itemHeader is put in front of every item; the empty one is left out.
	itemHeader metav1.TypeMeta
}

// newMediaTable returns the media types in the order of preference.
func newMediaTable(scheme *runtime.Scheme) []media {
	table := []media{
		{
			Type: runtime.ContentTypeJSON, Stream: runtime.ContentTypeJSON, tables: true,
			object: jsonObject, list: jsonList, frame: jsonFrame, pretty: indentJSON,
		},
		{
			Type: runtime.ContentTypeYAML, tables: true,
			object: yamlObject, list: yamlList,
		},
		{
			Type: runtime.ContentTypeProtobuf, Stream: runtime.ContentTypeProtobuf + ";stream=watch",
			object: protobufObject, list: protobufList, frame: protobufFrame,
		},
	}
	decoders := serializer.NewCodecFactory(scheme).SupportedMediaTypes()
	for i := range table {
		info, _ := runtime.SerializerInfoForMediaType(decoders, table[i].Type)
		table[i].lax, table[i].strict = info.Serializer, info.StrictSerializer
		if table[i].Type == runtime.ContentTypeProtobuf {
			table[i].lax, table[i].strict = boundedProtobuf{info.Serializer}, boundedProtobuf{info.StrictSerializer}
		}
	}
	return table
}
