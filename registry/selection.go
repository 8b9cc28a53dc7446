package registry

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// selection narrows a request as far as its selectors allow: a namespace that
// is asked for by field is read alone, and so is an object asked for by name.
func (s *Store) selection(req ListRequest) (selection, error) {
	namespace := req.Namespace
	if asked, ok := exactField(req.Field, fieldNamespace); ok && namespace == "" {
		if len(validation.ValidateNamespaceName(asked, false)) == 0 {
			namespace = asked
		}
	}
	predicate := storage.Predicate{Label: req.Label, Field: req.Field, Attrs: s.attributes}
	if name, ok := exactField(req.Field, fieldName); ok {
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
func (s *Store) attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, err
	}
	set := fields.Set{fieldName: accessor.GetName(), fieldNamespace: accessor.GetNamespace()}
	if s.resource.Fields != nil {
		maps.Copy(set, s.resource.Fields(obj))
	}
	return accessor.GetLabels(), set, nil
}

// exact tells whether a list is of one revision and no other: that of its
// continue token, or asked for in so many words, or in the older form of a limit
// with a version.
func (r *ListRequest) exact() bool {
	switch {
	case r.Continue != "", r.ResourceVersionMatch == metav1.ResourceVersionMatchExact:
		return true
	case r.ResourceVersionMatch == "":
		return r.Limit > 0 && r.ResourceVersion != "" && r.ResourceVersion != "0"
	default:
		return false
	}
}
