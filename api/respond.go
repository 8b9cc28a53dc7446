package api

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/storage"
)

// respond sends an object of the hub version in the requested version or transformation, or a
// Status as it is.
func (c *call) respond(status int, obj runtime.Object) error {
	if s, ok := obj.(*metav1.Status); ok {
		return c.respondStatus(status, *s)
	}
	header, converted, err := c.transform(obj)
	if err != nil {
		return err
	}
	body, err := c.format.Encode(converted)
	if err != nil {
		return err
	}
	return c.send(encoding.Object{Status: status, Header: header, Body: body})
}

// respondEntry sends the object of an entry. Computed objects and Tables are encoded for each
// response, stored objects once.
func (c *call) respondEntry(status int, e *storage.Entry) error {
	c.record.SetRevision(e.Revision)
	if e.Data() == nil || c.format.As.Kind == "Table" {
		obj, err := e.ObjectContext(c.r.Context())
		if err != nil {
			return err
		}
		return c.respond(status, obj)
	}
	encoder, err := c.entryEncoder()
	if err != nil {
		return err
	}
	body, err := encoder.Body(c.r.Context(), e)
	if err != nil {
		return err
	}
	return c.send(encoding.Object{Status: status, Header: encoder.Header, Body: body})
}

// respondStatus sends a Status as the result of a request without an object.
func (c *call) respondStatus(status int, s metav1.Status) error {
	if status == http.StatusCreated && s.Code == 0 {
		s.Code = http.StatusCreated
	}
	c.audit.SetStatus(s)
	body, err := c.format.Encode(&s)
	if err != nil {
		return err
	}
	return c.send(encoding.Object{Status: status, Header: encoding.StatusHeader, Body: body})
}

func (c *call) send(o encoding.Object) error {
	return c.server.responder.WriteObject(c.w, c.r, c.format, o)
}

// entryEncoder returns the encoder of single objects in the negotiated format, which is not a
// Table.
func (c *call) entryEncoder() (encoding.EntryEncoder, error) {
	switch c.format.As.Kind {
	case "PartialObjectMetadata":
		return c.format.MetadataEncoder(c.partial), nil
	case "PartialObjectMetadataList":
		return encoding.EntryEncoder{}, notAList(c.version.New())
	}
	return c.versionEncoder(), nil
}

// versionEncoder returns the encoder of objects in the requested version.
func (c *call) versionEncoder() encoding.EntryEncoder {
	convert := c.version.FromHub
	if !c.resourceKind() {
		convert = nil
	}
	return c.format.VersionEncoder(c.header(), c.version.Name, convert)
}

// transform converts an object of the hub version to the requested version or transformation, and
// returns its type header.
func (c *call) transform(obj runtime.Object) (metav1.TypeMeta, runtime.Object, error) {
	header := encoding.TypeHeader(c.format.As)
	switch c.format.As.Kind {
	case "Table":
		table, err := encoding.NewTable(c.columns(), []runtime.Object{obj}, c.table)
		return header, table, err
	case "PartialObjectMetadata":
		partial, err := c.partial(obj)
		return header, partial, err
	case "PartialObjectMetadataList":
		return header, nil, notAList(obj)
	}
	converted, err := c.fromHub(obj)
	return c.header(), converted, err
}

func notAList(obj runtime.Object) error {
	return encoding.NotAcceptable(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%T)", obj))
}

// readTableOptions reads the query of a request for a Table.
func (c *call) readTableOptions() error {
	if c.format.As.Kind != "Table" {
		return nil
	}
	var options metav1.TableOptions
	if err := decodeQuery(c.r, &options); err != nil {
		return err
	}
	if err := metav1validation.ValidateTableOptions(&options).ToAggregate(); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: %v", err))
	}
	c.table = encoding.TableOptions{
		IncludeObject: options.IncludeObject,
		NoHeaders:     options.NoHeaders,
		Version:       c.format.As.GroupVersion(),
		Partial:       c.partial,
		Full:          c.full,
		Now:           c.server.config.Catalog.Now,
	}
	return nil
}

// partial returns the metadata of an object without apiVersion and kind. It shares memory with obj;
// neither may be changed.
func (c *call) partial(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	partial := meta.AsPartialObjectMetadata(m)
	if show := c.resource.Metadata; show != nil {
		partial.ObjectMeta = show(partial.ObjectMeta)
	}
	return partial, nil
}

// full returns the object in a row of a Table under the policy Object.
func (c *call) full(obj runtime.Object) (runtime.RawExtension, error) {
	converted, err := c.fromHub(obj)
	if err != nil {
		return runtime.RawExtension{}, err
	}
	raw, err := encoding.JSON(c.header(), converted)
	return runtime.RawExtension{Raw: raw}, err
}
