package reconcile

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// keyset is a set of objects by namespace. It is used by one goroutine.
type keyset map[string]map[string]struct{}

func (s keyset) set(namespace, name string, exists bool) {
	switch {
	case !exists:
		delete(s[namespace], name)
		if len(s[namespace]) == 0 {
			delete(s, namespace)
		}
	case s[namespace] == nil:
		s[namespace] = map[string]struct{}{name: {}}
	default:
		s[namespace][name] = struct{}{}
	}
}

// each calls visit with the keys of the objects of a namespace and of cluster scope. Namespace ""
// is all namespaces.
func (s keyset) each(namespace string, visit func(key string)) {
	if namespace == "" {
		for namespace := range s {
			s.visit(namespace, visit)
		}
		return
	}
	s.visit(namespace, visit)
	s.visit("", visit)
}

func (s keyset) visit(namespace string, visit func(key string)) {
	for name := range s[namespace] {
		visit(key(namespace, name))
	}
}

// owners holds the last state of each dependent, by the key of the dependent in the storage. It is
// used by one goroutine.
type owners map[string]dependent

// dependent is the state of an object that has a controller of a kind, or no controller.
type dependent struct {
	// controller is the name of the controller, "" for an orphan.
	controller string
	// labels are the encoded labels of an orphan.
	labels string
}

// update records a change of a dependent. It returns the names of its controllers of a kind before
// and after the change, in the namespace of the dependent. orphan is
// true if another object may now adopt the dependent: it has no controller, and it has lost its
// controller or changed its labels.
func (o owners) update(change Change, kind schema.GroupKind) (affected []string, orphan bool) {
	before, known := o[change.Key]
	if before.controller != "" {
		affected = append(affected, before.controller)
	}
	now, ok := parseDependent(change, kind)
	if !ok {
		delete(o, change.Key)
		return affected, false
	}
	o[change.Key] = now
	if now.controller == "" {
		return affected, !known || before != now
	}
	if before.controller != now.controller {
		affected = append(affected, now.controller)
	}
	return affected, false
}

// parseDependent returns the state of an object that exists and that has no controller of another
// kind.
func parseDependent(change Change, kind schema.GroupKind) (dependent, bool) {
	if change.Deleted {
		return dependent{}, false
	}
	metadata, err := ParseMetadata(change.Data)
	if err != nil {
		return dependent{}, false
	}
	for _, ref := range metadata.OwnerReferences {
		if ref.Controller != nil && *ref.Controller {
			return dependent{controller: ref.Name}, isKind(ref, kind)
		}
	}
	return dependent{labels: encodedLabels(change.Data)}, true
}

func isKind(ref metav1.OwnerReference, kind schema.GroupKind) bool {
	group, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && ref.Kind == kind.Kind && group.Group == kind.Group
}
