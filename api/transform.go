package api

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// respond answers with one object of the hub version, or with a Status, which
// stays what it is.
func (c *call) respond(status int, obj runtime.Object) error {
	if s, ok := obj.(*metav1.Status); ok {
		return c.respondStatus(status, *s)
	}
	header, shown, err := c.show(obj)
	if err != nil {
		return err
	}
	bytes, err := c.format.media.encode(shown)
	if err != nil {
		return err
	}
	return c.send(status, header, encoded{bytes: bytes})
}

// respondEntry answers with the object of an entry.
func (c *call) respondEntry(e *storage.Entry) error {
	if c.format.as.Kind == "Table" {
		obj, err := e.ObjectContext(c.r.Context())
		if err != nil {
			return err
		}
		return c.respond(http.StatusOK, obj)
	}
	v, err := c.view()
	if err != nil {
		return err
	}
	b, err := v.bodyOf(c.r.Context(), e)
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, v.header, b)
}

// send answers with an object that is encoded.
func (c *call) send(status int, header metav1.TypeMeta, e encoded) error {
	d := c.format.media.wrap(nil, header, e)
	if !c.format.inPieces() {
		whole, err := c.format.finish(d)
		if err != nil {
			return err
		}
		c.server.writeOwned(c.w, c.r, c.format.media.Type, answer{status, whole})
		return nil
	}
	c.server.writeDocument(c.w, c.r, c.format.media.Type, status, d)
	return nil
}

// respondStatus answers that something was done, where there is no object to
// show.
func (c *call) respondStatus(status int, s metav1.Status) error {
	if status == http.StatusCreated && s.Code == 0 {
		s.Code = http.StatusCreated
	}
	bytes, err := c.format.media.encode(&s)
	if err != nil {
		return err
	}
	return c.send(status, statusHeader, encoded{bytes: bytes})
}

// show turns an object of the hub version into what the client asked to see.
func (c *call) show(obj runtime.Object) (metav1.TypeMeta, runtime.Object, error) {
	header := typeHeader(c.format.as)
	switch c.format.as.Kind {
	case "Table":
		table, err := newTable(c.columns(), []runtime.Object{obj}, c.table)
		return header, table, err
	case "PartialObjectMetadata":
		partial, err := c.partial(obj)
		return header, partial, err
	case "PartialObjectMetadataList":
		return header, nil, notAList(obj)
	}
	shown, err := c.fromHub(obj)
	return c.header(), shown, err
}

func notAList(obj runtime.Object) error {
	return notAcceptableText(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%T)", obj))
}

// readTableOptions reads the query of a request for a Table.
func (c *call) readTableOptions() error {
	if c.format.as.Kind != "Table" {
		return nil
	}
	var asked metav1.TableOptions
	if err := decodeQuery(c.r, &asked); err != nil {
		return err
	}
	if fault := metav1validation.ValidateTableOptions(&asked).ToAggregate(); fault != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: %v", fault))
	}
	c.table = tableOptions{
		IncludeObject: asked.IncludeObject,
		NoHeaders:     asked.NoHeaders,
		Version:       c.format.as.GroupVersion(),
		Partial:       c.partial,
		Full:          c.full,
	}
	return nil
}

// full is the object of a Table's row under the policy Object.
func (c *call) full(obj runtime.Object) (runtime.RawExtension, error) {
	shown, err := c.fromHub(obj)
	if err != nil {
		return runtime.RawExtension{}, err
	}
	raw, err := jsonObject(c.header(), shown)
	return runtime.RawExtension{Raw: raw}, err
}
