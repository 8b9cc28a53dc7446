package encoding

import (
	"context"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// EntryEncoder encodes stored objects in one format, either in one version or reduced to their
// metadata. Entries memoise the bodies. Tables have no encoder: their cells change with time.
type EntryEncoder struct {
	// Header is the type header of every object.
	Header metav1.TypeMeta
	form   storage.Form
	encode encodeFunc
	// stamped reports whether encode returns the bytes of [storage.Entry.Stamped].
	stamped bool
}

// VersionEncoder returns the encoder of objects in a version, the hub version if convert is nil.
// convert converts a hub object to the version that name identifies.
func (f Format) VersionEncoder(header metav1.TypeMeta, name string, convert func(runtime.Object) (runtime.Object, error)) EntryEncoder {
	m := f.MediaType
	if convert == nil {
		return EntryEncoder{Header: header, form: m.form, encode: m.encode, stamped: m.stamped}
	}
	return EntryEncoder{Header: header, form: m.form + storage.Form(" "+name), encode: m.encodeConverted(convert)}
}

// MetadataEncoder returns the encoder of the metadata of objects, which is the same in all
// versions.
func (f Format) MetadataEncoder(metadata func(runtime.Object) (*metav1.PartialObjectMetadata, error)) EntryEncoder {
	m, kind := f.MediaType, f.As
	kind.Kind = "PartialObjectMetadata"
	convert := func(obj runtime.Object) (runtime.Object, error) { return metadata(obj) }
	return EntryEncoder{Header: TypeHeader(kind), form: m.form + " metadata", encode: m.encodeConverted(convert)}
}

func (m *MediaType) encodeConverted(convert func(runtime.Object) (runtime.Object, error)) encodeFunc {
	return func(obj runtime.Object) ([]byte, error) {
		converted, err := convert(obj)
		if err != nil {
			return nil, err
		}
		return m.encode(converted)
	}
}

// Body returns the body of an entry.
func (e *EntryEncoder) Body(ctx context.Context, entry *storage.Entry) (Body, error) {
	if e.stamped {
		if stamped, ok := entry.Stamped(); ok {
			return Body{stamped: stamped, isStamped: true}, nil
		}
	}
	bytes, err := entry.Body(ctx, e.form, e.encode)
	return Body{bytes: bytes}, err
}

// Bodies yields the bodies of entries in their order.
func (e *EntryEncoder) Bodies(ctx context.Context, entries []*storage.Entry) iter.Seq2[Body, error] {
	return func(yield func(Body, error) bool) {
		for _, entry := range entries {
			if b, err := e.Body(ctx, entry); !yield(b, err) {
				return
			}
		}
	}
}
