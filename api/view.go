package api

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// view is what a client asked to see of the objects of a resource: a version,
// or their metadata, in an encoding.
type view struct {
	header metav1.TypeMeta
	form   storage.Form
	encode encodeFunc
	// stamps: what is stored, stamped, is what encode would return.
	stamps bool
}

// view is that of single objects. Tables have none: their cells change with
// time.
func (c *call) view() (view, error) {
	switch c.format.as.Kind {
	case "PartialObjectMetadata":
		return c.metadataView(), nil
	case "PartialObjectMetadataList":
		return view{}, notAList(c.version.New())
	}
	return c.versionView(), nil
}

// versionView shows objects in the version asked for.
func (c *call) versionView() view {
	m := c.format.media
	v := view{header: c.header(), form: m.form, encode: m.encode, stamps: m.stamps}
	if c.version.FromHub != nil && c.resourceKind() {
		v.form += storage.Form(" " + c.version.Name)
		v.encode, v.stamps = encodeShown(m, c.version.FromHub), false
	}
	return v
}

// metadataView shows the metadata of objects, which are the same in all
// versions.
func (c *call) metadataView() view {
	m, kind := c.format.media, c.format.as
	kind.Kind = "PartialObjectMetadata"
	show := func(obj runtime.Object) (runtime.Object, error) { return c.partial(obj) }
	return view{header: typeHeader(kind), form: m.form + " metadata", encode: encodeShown(m, show)}
}

// encodeShown encodes what show makes of an object.
func encodeShown(m *media, show func(runtime.Object) (runtime.Object, error)) encodeFunc {
	return func(obj runtime.Object) ([]byte, error) {
		shown, err := show(obj)
		if err != nil {
			return nil, err
		}
		return m.encode(shown)
	}
}

// bodyOf returns the body of an entry.
func (v *view) bodyOf(ctx context.Context, e *storage.Entry) (encoded, error) {
	if v.stamps {
		if stamped, ok := e.Stamped(); ok {
			return encoded{stamped: stamped, isStamped: true}, nil
		}
	}
	bytes, err := e.Body(ctx, v.form, v.encode)
	return encoded{bytes: bytes}, err
}
