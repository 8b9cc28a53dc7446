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

// selection is what a list or watch reads: one key, or what is below a prefix.
type selection struct {
	key       string
	recursive bool
	predicate storage.Predicate
}

// selection narrows a request as far as its selectors allow: to the namespace or
// the object that a field selector names. A later page is never narrowed to an
// object, which may be on one of the pages before.
func (s *Store) selection(req ListRequest) (selection, error) {
	namespace := req.Namespace
	if asked, ok := exactField(req.Field, fieldNamespace); ok && namespace == "" {
		if len(validation.ValidateNamespaceName(asked, false)) == 0 {
			namespace = asked
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

// attributes returns what an object can be selected by.
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

// readsExactly reports whether kube-apiserver reads the one object that a list selects at one
// revision from etcd: it applies the rule of collections to one object, too.
func (s *Store) readsExactly(key string, opts storage.ListOptions) bool {
	opts.Recursive = true
	plan, err := opts.Plan(s.storage.Versioner(), key)
	return err == nil && plan.Exact
}

// limit returns the greatest number of entries on a page, 0 for no limit. As in
// kube-apiserver, whose watch cache answers such a list, a list of any version
// ("0") has no pages: the first list of an informer is one request.
func (r *ListRequest) limit() int64 {
	if r.ResourceVersion == "0" {
		return 0
	}
	return r.Limit
}
