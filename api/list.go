package api

import (
	"iter"
	"net/http"
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
	page, err := c.store.List(c.r.Context(), c.listRequest(options))
	if err != nil {
		return err
	}
	return c.respondList(page)
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
		return notAcceptableText("you requested PartialObjectMetadata, but the requested object is a list (" + c.resource.Kind + "List)")
	case "PartialObjectMetadataList":
		item := c.format.as
		item.Kind = "PartialObjectMetadata"
		return c.writeList(listing{
			header: typeHeader(c.format.as), meta: meta, itemHeader: typeHeader(item),
			items: itemsOf(page, func(obj runtime.Object) (runtime.Object, error) { return partialMetadata(obj) }),
		})
	}
	header := c.header()
	header.Kind += "List"
	return c.writeList(listing{header: header, meta: meta, items: itemsOf(page, c.fromHub)})
}

func (c *call) respondTable(page *storage.Page, meta metav1.ListMeta) error {
	options := c.table
	options.ListMeta = meta
	var objects []runtime.Object
	for obj, err := range itemsOf(page, unchanged) {
		if err != nil {
			return err
		}
		objects = append(objects, obj)
	}
	table, err := newTable(c.columns(), objects, options)
	if err != nil {
		return err
	}
	document, err := encodeWhole(c.format, typeHeader(c.format.as), table)
	if err != nil {
		return err
	}
	c.server.writeBytes(c.w, c.r, c.format.media.Type, answer{http.StatusOK, document})
	return nil
}

func unchanged(obj runtime.Object) (runtime.Object, error) { return obj, nil }

// itemsOf yields the objects of a page as they are to be shown.
func itemsOf(page *storage.Page, show func(runtime.Object) (runtime.Object, error)) iter.Seq2[runtime.Object, error] {
	return func(yield func(runtime.Object, error) bool) {
		for _, entry := range page.Entries {
			obj, err := entry.Object()
			if err == nil {
				obj, err = show(obj)
			}
			if !yield(obj, err) {
				return
			}
		}
	}
}
