package api

import (
	"cmp"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
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
		return encoding.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + cmp.Or(c.resource.ListKind, c.resource.Kind+"List") + ")")
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
	list.Items = encoder.Bodies(c.r.Context(), page.Entries)
	return c.server.responder.WriteList(c.w, c.r, c.format, list)
}

// respondTable sends the entries of a page as a Table.
func (c *call) respondTable(page *storage.Page, meta metav1.ListMeta) error {
	options := c.table
	options.ListMeta = meta
	objects := make([]runtime.Object, len(page.Entries))
	for i, entry := range page.Entries {
		var err error
		if objects[i], err = entry.ObjectContext(c.r.Context()); err != nil {
			return err
		}
	}
	columns := c.columns()
	if columns.Compare != nil {
		slices.SortStableFunc(objects, columns.Compare)
	}
	if columns.InList != nil {
		columns = columns.InList(objects)
	}
	table, err := encoding.NewTable(columns, objects, options)
	if err != nil {
		return err
	}
	return c.server.responder.WriteTable(c.w, c.r, c.format, table)
}
