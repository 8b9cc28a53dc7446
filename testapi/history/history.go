// Package history describes the versions of an object that etcd keeps, with the writer and the
// changed fields of each version, and the version that wrote each present field. Versions come from
// etcd, writers from the journal.
package history

import (
	"context"
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/journal"
	"github.com/miniapi/miniapi/versioner"
)

// Kind is the kind of the subresource history.
var Kind = schema.GroupVersionKind{Group: "miniapi.dev", Version: "v1alpha1", Kind: "ObjectHistory"}

// maxVersions is the number of versions that are described, the latest ones.
const maxVersions = 500

// History is the history of an object.
type History struct {
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Oldest is the oldest resourceVersion that can be read. Earlier ones are compacted.
	Oldest string `json:"oldestResourceVersion"`
	// Omitted is the number of versions before the first one of Versions.
	Omitted int `json:"omitted,omitempty"`
	// Versions are the versions, the oldest first. Deleted objects of the same name are included.
	Versions []Version `json:"versions"`
}

// Version is one version of an object.
type Version struct {
	// ResourceVersion is the revision that wrote the version, or deleted the object.
	ResourceVersion string `json:"resourceVersion"`
	// CreateRevision is the revision that created the object, Version the number of writes since
	// then, 1 for the creation. A deletion has neither.
	CreateRevision string `json:"createRevision,omitempty"`
	Version        int64  `json:"version,omitempty"`
	// Event is Created, Updated or Deleted.
	Event string `json:"event"`
	// Writer describes the request, nil if the write is not in the journal.
	Writer *Writer `json:"writer,omitempty"`
	// Fields are the changed fields of an update.
	Fields []string `json:"fields,omitempty"`
}

// Writer describes the request of a write.
type Writer struct {
	Verb         string `json:"verb,omitempty"`
	Subresource  string `json:"subresource,omitempty"`
	User         string `json:"user,omitempty"`
	UserAgent    string `json:"userAgent,omitempty"`
	FieldManager string `json:"fieldManager,omitempty"`
	// RequestID is the header Audit-Id of the request.
	RequestID string `json:"requestID,omitempty"`
	Time      string `json:"time,omitempty"`
}

// timeFormat has milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// Reader reads histories. Safe for concurrent use.
type Reader struct{ journal *journal.Journal }

// NewReader returns a Reader that finds writers in a journal.
func NewReader(j *journal.Journal) *Reader { return &Reader{j} }

// Read returns the history of an object. It is a 404 if etcd has no version of it.
func (r *Reader) Read(ctx context.Context, store registry.Interface, req registry.ObjectName) (*History, error) {
	kept, err := store.History(ctx, req.Namespace, req.Name)
	if err != nil {
		return nil, err
	}
	resource := store.Resource().GroupResource()
	h := &History{
		Resource: resource.String(), Namespace: req.Namespace, Name: req.Name,
		Oldest: versioner.Format(kept.Oldest), Omitted: max(0, len(kept.Versions)-maxVersions),
	}
	writers := r.writers(ctx, resource, kept.Versions)
	for i := h.Omitted; i < len(kept.Versions); i++ {
		var previous *storage.Version
		if i > 0 {
			previous = &kept.Versions[i-1]
		}
		version := describe(kept.Versions[i])
		version.Writer = writers[kept.Versions[i].Revision]
		if version.Event == "Updated" && previous != nil && previous.Entry != nil {
			version.Fields = changed(store, req.Version, previous.Entry, kept.Versions[i].Entry)
		}
		h.Versions = append(h.Versions, version)
	}
	return h, nil
}

// describe returns a version without its writer and its fields.
func describe(v storage.Version) Version {
	d := Version{ResourceVersion: versioner.Format(v.Revision), Event: "Updated"}
	if v.Entry == nil {
		d.Event = "Deleted"
		return d
	}
	d.CreateRevision, d.Version = strconv.FormatInt(v.CreateRevision, 10), v.Number
	if v.Number == 1 {
		d.Event = "Created"
	}
	return d
}

// changed returns the fields in which two versions differ, nil if they cannot be compared.
func changed(store registry.Interface, version string, from, to *storage.Entry) []string {
	before, err := from.Object()
	if err != nil {
		return nil
	}
	after, err := to.Object()
	if err != nil {
		return nil
	}
	set, err := store.ChangedFields(version, before, after)
	if err != nil {
		return nil
	}
	var fields []string
	for path := range set.All() {
		fields = append(fields, path.String())
	}
	return fields
}

// writers returns the writers of versions by revision. The versions of a key have one key in the
// journal, which the first entry has.
func (r *Reader) writers(ctx context.Context, resource schema.GroupResource, versions []storage.Version) map[int64]*Writer {
	found := map[int64]*Writer{}
	for _, version := range versions {
		if version.Entry == nil {
			continue
		}
		r.journal.Await(ctx, version.Entry.Key, versions[len(versions)-1].Revision)
		for _, w := range r.journal.Writes(version.Entry.Key) {
			if w.Resource == resource {
				found[w.Revision] = &Writer{
					Verb: w.Verb, Subresource: w.Subresource, User: w.User, UserAgent: w.UserAgent,
					FieldManager: w.FieldManager, RequestID: w.RequestID, Time: w.Time.UTC().Format(timeFormat),
				}
			}
		}
		break
	}
	return found
}

// Object returns the history as an object.
func (h *History) Object() (runtime.Object, error) { return toObject(h, Kind) }

// toObject returns a struct with JSON tags as an object of a kind.
func toObject(content any, kind schema.GroupVersionKind) (runtime.Object, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return nil, err
	}
	u.SetGroupVersionKind(kind)
	return u, nil
}
