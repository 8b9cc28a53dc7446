package upstreamstorage

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	upstream "k8s.io/apiserver/pkg/storage"

	"github.com/miniapi/miniapi/storage"
)

// adapter implements the storage.Interface of upstream over one of this project. Its objects are
// example.Pods.
type adapter struct {
	store       storage.Interface
	codec       *podCodec
	decoder     *storage.Decoder
	transformer *transformer
	// currentRevision returns the latest revision of the store.
	currentRevision func(ctx context.Context) (int64, error)
	// aggregates makes lists with corrupt objects return the error of upstream's
	// corruptObjectDeleter, which wraps the store of kube-apiserver.
	aggregates bool
	// delivers makes Create return after the watches of the object, which must select it, have
	// delivered their events. A case may wait for them for 150 ms only.
	delivers bool

	mu      sync.Mutex
	watches []*watch
}

var _ upstream.Interface = (*adapter)(nil)

func newAdapter(store storage.Interface, codec *podCodec, transformer *transformer) *adapter {
	return &adapter{
		store: store, codec: codec, transformer: transformer,
		decoder: storage.NewDecoder(codec, store.Versioner()),
	}
}

// podAttributes replaces the GetAttrs of every predicate. Entries are shared and keep the
// attributes of the first predicate, so all predicates must use the same function.
func podAttributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	pod := obj.(*example.Pod)
	return pod.Labels, fields.Set{
		"metadata.name":      pod.Name,
		"metadata.namespace": pod.Namespace,
		"spec.nodeName":      pod.Spec.NodeName,
	}, nil
}

func predicate(p upstream.SelectionPredicate) storage.Predicate {
	return storage.Predicate{Label: p.Label, Field: p.Field, Attrs: podAttributes}
}

// set copies the object of an entry into out.
func set(out runtime.Object, entry *storage.Entry) error {
	if out == nil {
		return nil
	}
	obj, err := entry.Object()
	if err != nil {
		return err
	}
	return assign(out, obj.DeepCopyObject())
}

func assign(out, obj runtime.Object) error {
	v, err := conversion.EnforcePtr(out)
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(obj).Elem())
	return nil
}

// suggestion is the entry of an object that upstream's callers have in a cache,
// which they hand over without its stored bytes.
func (a *adapter) suggestion(key string, obj runtime.Object) (*storage.Entry, error) {
	if obj == nil || reflect.ValueOf(obj).IsNil() {
		return nil, nil
	}
	revision, err := a.store.Versioner().ObjectResourceVersion(obj)
	if err != nil {
		return nil, err
	}
	obj = obj.DeepCopyObject()
	if err := a.store.Versioner().PrepareObjectForStorage(obj); err != nil {
		return nil, err
	}
	data, err := a.codec.Encode(obj)
	if err != nil {
		return nil, err
	}
	return a.decoder.Entry(key, revision, data), nil
}

func preconditions(p *upstream.Preconditions) *storage.Preconditions {
	if p == nil {
		return nil
	}
	return &storage.Preconditions{UID: p.UID, ResourceVersion: p.ResourceVersion}
}

func (a *adapter) Versioner() upstream.Versioner { return upstream.APIObjectVersioner{} }

func (a *adapter) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	entry, err := a.store.Create(ctx, key, obj, storage.CreateOptions{TTL: int64(ttl)})
	if err != nil {
		return a.translate(key, err)
	}
	if a.delivers {
		a.awaitDelivery(key, entry.Revision)
	}
	return set(out, entry)
}

func (a *adapter) Get(ctx context.Context, key string, opts upstream.GetOptions, out runtime.Object) error {
	entry, err := a.store.Get(ctx, key, storage.GetOptions{ResourceVersion: opts.ResourceVersion})
	if errors.Is(err, storage.ErrNotFound) && opts.IgnoreNotFound {
		return runtime.SetZeroValue(out)
	}
	if err == nil {
		err = set(out, entry)
	}
	return a.translate(key, err)
}

func (a *adapter) GetList(ctx context.Context, key string, opts upstream.ListOptions, out runtime.Object) error {
	page, err := a.store.GetList(ctx, key, storage.ListOptions{
		Recursive:            opts.Recursive,
		Predicate:            predicate(opts.Predicate),
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: opts.ResourceVersionMatch,
		Limit:                opts.Predicate.Limit,
		Continue:             opts.Predicate.Continue,
	})
	if page != nil {
		if err := setItems(out, page.Entries); err != nil {
			return err
		}
	}
	if err != nil {
		return a.translateList(key, opts, err)
	}
	return a.Versioner().UpdateList(out, uint64(page.Revision), etcdForm(page.Continue), page.Remaining)
}

// etcdForm returns a continue token without the slash that its start key begins
// with. kube-apiserver sends it from its cache, which answers nearly all lists, but
// the suite names collections with a slash at the end, as nothing in kube-apiserver
// does, and then expects none.
func etcdForm(token string) string {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return token
	}
	return base64.RawURLEncoding.EncodeToString(bytes.Replace(data, []byte(`"start":"/`), []byte(`"start":"`), 1))
}

func setItems(list runtime.Object, entries []*storage.Entry) error {
	items := make([]runtime.Object, len(entries))
	for i, entry := range entries {
		obj, err := entry.Object()
		if err != nil {
			return err
		}
		items[i] = obj.DeepCopyObject()
	}
	return meta.SetList(list, items)
}

func (a *adapter) Delete(ctx context.Context, key string, out runtime.Object, p *upstream.Preconditions,
	validate upstream.ValidateObjectFunc, cached runtime.Object, opts upstream.DeleteOptions) error {
	suggested, err := a.suggestion(key, cached)
	if err != nil {
		return err
	}
	if opts.ExpectTransformOrDecodeError { // there is no object to validate or to return
		if err := validate(ctx, nil); err != nil {
			return err
		}
		_, err := a.store.Delete(ctx, key, storage.DeleteOptions{OnlyCorrupt: true})
		return a.translate(key, err)
	}
	propose := func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		obj, err := current.Object()
		if err != nil {
			return storage.Proposal{}, err
		}
		return storage.Proposal{Delete: true}, validate(ctx, obj.DeepCopyObject())
	}
	result, err := a.store.GuaranteedUpdate(ctx, key, propose,
		storage.UpdateOptions{Preconditions: preconditions(p), Suggestion: suggested})
	if err == nil {
		err = set(out, result.Entry)
	}
	return a.translate(key, err)
}

func (a *adapter) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	p *upstream.Preconditions, tryUpdate upstream.UpdateFunc, cached runtime.Object) error {
	suggested, err := a.suggestion(key, cached)
	if err != nil {
		return err
	}
	propose := func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		var input runtime.Object = &example.Pod{}
		var response upstream.ResponseMeta
		if current != nil {
			obj, err := current.Object()
			if err != nil {
				return storage.Proposal{}, err
			}
			input, response.ResourceVersion = obj.DeepCopyObject(), uint64(current.Revision)
		}
		obj, seconds, err := tryUpdate(input, response)
		if err != nil {
			return storage.Proposal{}, err
		}
		var ttl int64 // none given: none from now on
		if seconds != nil {
			ttl = int64(*seconds)
		}
		return storage.Proposal{Object: obj, TTL: &ttl}, nil
	}
	result, err := a.store.GuaranteedUpdate(ctx, key, propose, storage.UpdateOptions{
		CreateIfAbsent: ignoreNotFound, Preconditions: preconditions(p), Suggestion: suggested,
	})
	if err == nil {
		err = set(out, result.Entry)
	}
	return a.translate(key, err)
}

func (a *adapter) Stats(ctx context.Context) (upstream.Stats, error) {
	count, err := a.store.Count(ctx, "/pods/")
	return upstream.Stats{ObjectCount: count}, err
}

func (a *adapter) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	revision, err := a.currentRevision(ctx)
	return uint64(revision), err
}

// The rest of upstream's interface has no counterpart in ours.

func (a *adapter) ReadinessCheck() error                                { return nil }
func (a *adapter) RequestWatchProgress(context.Context) error           { return nil }
func (a *adapter) EnableResourceSizeEstimation(upstream.KeysFunc) error { return nil }
func (a *adapter) CompactRevision() int64                               { return 0 }
