package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/miniapi/miniapi/storage"
)

const deletePageSize = 10000

// DeleteCollection deletes the selected objects one after the other, in the order of their keys
// as kube-apiserver does, and returns them as they were listed. It is not atomic: after an error
// some objects may be deleted. An object that another request deletes meanwhile, or replaces
// under the same name, is no error.
func (s *Store) DeleteCollection(ctx context.Context, req DeleteRequest, list ListRequest) (*storage.Page, error) {
	if err := s.checkWritable(""); err != nil {
		return nil, err
	}
	onePage := list.Limit > 0
	if !onePage {
		list.Limit = deletePageSize
	}
	var all *storage.Page
	for {
		page, err := s.List(ctx, list)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Entries {
			if err := s.deleteEntry(ctx, req, entry); err != nil {
				return nil, err
			}
		}
		if all == nil {
			all = &storage.Page{Revision: page.Revision}
		}
		all.Entries = append(all.Entries, page.Entries...)
		if onePage || page.Continue == "" {
			all.Continue, all.Remaining = page.Continue, page.Remaining
			return all, nil
		}
		list.Continue, list.ResourceVersion, list.ResourceVersionMatch = page.Continue, "", ""
	}
}

func (s *Store) deleteEntry(ctx context.Context, req DeleteRequest, entry *storage.Entry) error {
	obj, err := entry.ObjectContext(ctx)
	if err != nil {
		return s.call("delete", "", entry.Key).interpret(err)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	req.Namespace, req.Name = accessor.GetNamespace(), accessor.GetName()
	if _, err := s.delete(ctx, req, accessor.GetUID()); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}
