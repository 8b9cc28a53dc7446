package writes

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/journal"
)

// Reader lists writes. Safe for concurrent use.
type Reader struct{ journal *journal.Journal }

// NewReader returns a Reader of the writes in a journal.
func NewReader(j *journal.Journal) *Reader { return &Reader{j} }

// maxReads is the number of histories that are read at the same time.
const maxReads = 32

// List returns the writes that a filter selects, in the order of revisions. Writes that the journal
// does not keep any more, or whose resource is not served any more, are not among them.
func (r *Reader) List(ctx context.Context, catalog *registry.Snapshot, filter Filter) ([]Write, error) {
	var selected []*journal.Write
	objects := map[string]*object{}
	for _, w := range r.journal.After(filter.After) {
		location, served := catalog.Locate(w.Key)
		if w.User != filter.User || !served {
			continue
		}
		selected = append(selected, w)
		if objects[w.Key] == nil {
			objects[w.Key] = &object{Location: location}
		}
		if w.Outcome == storage.Created || mayLose(w) {
			objects[w.Key].needsHistory = true
		}
	}
	if err := r.readHistories(ctx, objects); err != nil {
		return nil, err
	}
	list := make([]Write, len(selected))
	for i, w := range selected {
		list[i] = objects[w.Key].describe(w)
	}
	return list, nil
}

// object is an object with its versions.
type object struct {
	registry.Location
	// needsHistory is set if the object has a write that its versions describe. Only then it has
	// versions and writers.
	needsHistory bool
	versions     []storage.Version
	writers      map[int64]*journal.Write // by revision
}

// readHistories reads the versions of the objects that need them, by their keys.
func (r *Reader) readHistories(ctx context.Context, objects map[string]*object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReads)
	for key, o := range objects {
		if !o.needsHistory {
			continue
		}
		group.Go(func() error { // ends in Wait
			kept, err := o.Store.History(ctx, o.Namespace, o.Name)
			if err != nil {
				return err
			}
			o.versions, o.writers = kept.Versions, map[int64]*journal.Write{}
			for _, writer := range r.journal.Writes(key) {
				o.writers[writer.Revision] = writer
			}
			return nil
		})
	}
	return group.Wait()
}

// outcomes are the events of the outcomes of writes.
var outcomes = map[storage.Outcome]string{storage.Created: "Created", storage.Updated: "Updated", storage.Deleted: "Deleted"}

// describe returns a write of the object.
func (o *object) describe(w *journal.Write) Write {
	d := Write{
		Revision: w.Revision, Time: w.Time, Event: outcomes[w.Outcome],
		Resource: w.Resource.String(), Subresource: w.Subresource, Namespace: o.Namespace, Name: o.Name,
		Verb: w.Verb, ResourceVersion: w.ResourceVersion, Client: clientOf(w), RequestID: w.RequestID,
	}
	i := slices.IndexFunc(o.versions, func(v storage.Version) bool { return v.Revision == w.Revision })
	if i < 0 { // not needed, or compacted
		return d
	}
	if w.Outcome == storage.Created {
		d.GenerateName, d.Owner = originOf(o.versions[i].Entry)
	}
	if mayLose(w) {
		d.Lost = o.lost(w, i)
	}
	return d
}

func clientOf(w *journal.Write) Client { return Client(w.Writer()) }

// originOf returns the prefix of the generated name and the owner of an object.
func originOf(entry *storage.Entry) (generateName, owner string) {
	obj, err := entry.Object()
	if err != nil {
		return "", ""
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return "", ""
	}
	controller := metav1.GetControllerOfNoCopy(accessor)
	if owners := accessor.GetOwnerReferences(); controller == nil && len(owners) > 0 {
		controller = &owners[0]
	}
	if controller != nil {
		owner = controller.Kind + "/" + controller.Name
	}
	return accessor.GetGenerateName(), owner
}

// content returns the object of a version and its fields. It is false if there is none.
func (o *object) content(i int) (runtime.Object, value.Value, bool) {
	entry := o.versions[i].Entry
	if entry == nil {
		return nil, nil, false
	}
	obj, err := entry.Object()
	if err != nil {
		return nil, nil, false
	}
	content, err := o.Store.Content(o.version(), obj)
	return obj, content, err == nil
}

// version returns the API version in which fields are compared.
func (o *object) version() string { return o.Store.Resource().Versions[0].Name }
