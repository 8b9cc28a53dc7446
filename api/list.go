package api

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// wantsWatch tells whether a request for a list asks to watch it.
func wantsWatch(r *http.Request) bool {
	values, asked := r.URL.Query()["watch"]
	return asked && !strings.EqualFold(values[0], "false") && values[0] != "0"
}

// list answers with a collection.
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
		// Now that one object is known to be corrupt, the list finds them all.
		if _, all := c.store.List(c.r.Context(), request); all != nil {
			return all
		}
	}
	return err
}

// respondList answers with the entries of a page.
func (c *call) respondList(page *storage.Page) error {
	meta := metav1.ListMeta{Continue: page.Continue, RemainingItemCount: page.Remaining}
	if page.Revision != 0 {
		meta.ResourceVersion = strconv.FormatInt(page.Revision, 10)
	}
	switch c.format.as.Kind {
	case "Table":
		return c.respondTable(page, meta)
	case "PartialObjectMetadata":
		return notAcceptableText("you requested PartialObjectMetadata, but the requested object is a list (" + cmp.Or(c.resource.ListKind, c.resource.Kind+"List") + ")")
	case "PartialObjectMetadataList":
		v := c.metadataView()
		return c.writeList(listing{header: typeHeader(c.format.as), meta: meta, itemHeader: v.header, items: v.bodies(c.r.Context(), page)})
	}
	v := c.versionView()
	header := v.header
	header.Kind = cmp.Or(c.resource.ListKind, header.Kind+"List")
	l := listing{header: header, meta: meta, items: v.bodies(c.r.Context(), page)}
	if c.resource.Custom { // items of other lists do not say what they are, nor that this is the last page
		l.itemHeader, l.allMeta = v.header, true
	}
	return c.writeList(l)
}

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
	table, err := newTable(columns, objects, options)
	if err != nil {
		return err
	}
	document, err := encodeWhole(c.format, typeHeader(c.format.as), table)
	if err != nil {
		return err
	}
	c.server.writeOwned(c.w, c.r, c.format.media.Type, answer{http.StatusOK, document})
	return nil
}

// bodies yields the bodies of a page.
func (v *view) bodies(ctx context.Context, page *storage.Page) iter.Seq2[encoded, error] {
	return func(yield func(encoded, error) bool) {
		for _, entry := range page.Entries {
			if b, err := v.bodyOf(ctx, entry); !yield(b, err) {
				return
			}
		}
	}
}
