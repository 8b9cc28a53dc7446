package registry

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// The fields by which every object can be selected.
const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

// selection defines the keys that a list or watch reads: one key, or all keys with a prefix.
type selection struct {
	key       string
	recursive bool
	predicate storage.Predicate
}

// selection returns the smallest selection for a request: the namespace or the object that a
// field selector names. A later page never selects one object, because an earlier page may have it.
func (s *Store) selection(req ListRequest) (selection, error) {
	namespace := req.Namespace
	if selected, ok := exactField(req.Field, fieldNamespace); ok && namespace == "" {
		if len(validation.ValidateNamespaceName(selected, false)) == 0 {
			namespace = selected
		}
	}
	predicate := storage.Predicate{Label: req.Label, Field: req.Field, Attrs: s.resource.attributes, IncludeCorrupt: req.IncludeCorrupt}
	if name, ok := exactField(req.Field, fieldName); ok && req.Continue == "" {
		if key, err := s.key(namespace, name); err == nil {
			return selection{key: key, predicate: predicate}, nil
		}
	}
	root, err := s.rootKey(namespace)
	if err != nil {
		return selection{}, err
	}
	return selection{key: root, recursive: true, predicate: predicate}, nil
}

func exactField(selector fields.Selector, name string) (string, bool) {
	if selector == nil {
		return "", false
	}
	return selector.RequiresExactMatch(name)
}

// attributes returns the labels and fields by which an object can be selected.
func (r *Resource) attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, err
	}
	set := fields.Set{fieldName: accessor.GetName(), fieldNamespace: accessor.GetNamespace()}
	if r.Fields != nil {
		maps.Copy(set, r.Fields(obj))
	}
	return accessor.GetLabels(), set, nil
}

// readsExactly reports whether kube-apiserver reads the one object that a list selects from etcd at
// an exact revision. The rule for collections applies to one object, too.
func (s *Store) readsExactly(key string, opts storage.ListOptions) bool {
	opts.Recursive = true
	plan, err := opts.Plan(s.storage.Versioner(), key)
	return err == nil && plan.Exact
}

// limit returns the maximum number of entries of a page, 0 for no limit. A list of any version
// ("0") has no pages, as in kube-apiserver, whose watch cache serves it: the first list of an
// informer is one request.
func (r *ListRequest) limit() int64 {
	if r.ResourceVersion == "0" {
		return 0
	}
	return r.Limit
}
