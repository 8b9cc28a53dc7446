package api

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// list handles a GET of a collection.
func (c *call) list() error {
	options, err := c.listOptions()
	if err != nil {
		return err
	}
	request := c.listRequest(options)
	page, err := c.store.List(c.r.Context(), request)
	if err != nil {
		return err
	}
	if err = c.respondList(page); errors.Is(err, storage.ErrCorrupt) {
		// The corrupt object was found while it was encoded. A second list decodes all objects
		// and returns an error that names every corrupt one.
		if _, all := c.store.List(c.r.Context(), request); all != nil {
			return all
		}
	}
	return err
}

// respondList sends the entries of a page.
func (c *call) respondList(page *storage.Page) error {
	c.record.SetRevision(page.Revision)
	var meta metav1.List
	if page.Revision != 0 { // a virtual resource has no revision and no pages
		v := versioner.APIObjectVersioner{}
		if err := v.UpdateList(&meta, page.Revision, page.Continue, page.Remaining); err != nil {
			return err
		}
	}
	list := encoding.List{Meta: meta.ListMeta}
	var encoder encoding.EntryEncoder
	switch c.format.As.Kind {
	case "Table":
		return c.respondTable(page, meta.ListMeta)
	case "PartialObjectMetadata":
		return encoding.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + c.listType() + ")")
	case "PartialObjectMetadataList":
		encoder = c.format.MetadataEncoder(c.partial)
		list.Header, list.ItemHeader = encoding.TypeHeader(c.format.As), encoder.Header
	default:
		encoder = c.versionEncoder()
		list.Header = encoder.Header
		list.Header.Kind = cmp.Or(c.resource.ListKind, encoder.Header.Kind+"List")
		if c.resource.Custom {
			list.ItemHeader, list.ShowEmptyMeta = encoder.Header, true
		}
	}
	list.Len, list.Largest = len(page.Entries), largest(page.Entries)
	list.Items = encoder.Bodies(c.r.Context(), page.Entries)
	return c.server.responder.WriteList(c.w, c.r, c.format, list)
}

// largest returns the size of the largest stored object.
func largest(entries []*storage.Entry) int {
	size := 0
	for _, entry := range entries {
		size = max(size, len(entry.Data()))
	}
	return size
}

// respondTable sends the entries of a page as a Table.
func (c *call) respondTable(page *storage.Page, meta metav1.ListMeta) error {
	table := encoding.TableList{
		Columns: c.columns(), Options: c.table, Len: len(page.Entries), Largest: largest(page.Entries),
		Objects: c.objects(page.Entries),
	}
	table.Options.ListMeta = meta
	if compare, inList := table.Columns.Compare, table.Columns.InList; compare != nil || inList != nil {
		objects, err := c.decodeAll(page.Entries)
		if err != nil {
			return err
		}
		if compare != nil {
			slices.SortStableFunc(objects, compare)
		}
		if inList != nil {
			table.Columns = inList(objects)
		}
		table.Objects = withoutErrors(objects)
	}
	return c.server.responder.WriteTable(c.w, c.r, c.format, table)
}

// objects yields the objects of entries in the hub version.
func (c *call) objects(entries []*storage.Entry) iter.Seq2[runtime.Object, error] {
	return func(yield func(runtime.Object, error) bool) {
		for _, entry := range entries {
			if !yield(entry.Peek(c.r.Context())) {
				return
			}
		}
	}
}

// decodeAll returns the objects of entries in the hub version. It reserves memory for them.
func (c *call) decodeAll(entries []*storage.Entry) ([]runtime.Object, error) {
	size := int64(0)
	for _, entry := range entries {
		size += entry.DecodingSize()
	}
	if err := memory.Grow(c.r.Context(), size); err != nil {
		return nil, err
	}
	objects := make([]runtime.Object, 0, len(entries))
	for obj, err := range c.objects(entries) {
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	return objects, nil
}

func withoutErrors(objects []runtime.Object) iter.Seq2[runtime.Object, error] {
	return func(yield func(runtime.Object, error) bool) {
		for _, obj := range objects {
			if !yield(obj, nil) {
				return
			}
		}
	}
}

// listType returns the name of the type of the list, as kube-apiserver shows it.
func (c *call) listType() string {
	if c.resource.Custom {
		return "*unstructured.UnstructuredList"
	}
	return cmp.Or(c.resource.ListKind, c.resource.Kind+"List")
}
