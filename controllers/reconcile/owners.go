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

// owners holds the name of the controller of each dependent, by the key of the dependent in the
// storage. It is used by one goroutine.
type owners map[string]string

// update records a change of a dependent, and returns the names of its controllers of a kind before
// and after the change, in the namespace of the dependent.
func (o owners) update(change Change, kind schema.GroupKind) []string {
	var affected []string
	before, ok := o[change.Key]
	if ok {
		affected = append(affected, before)
	}
	now, ok := controllerName(change, kind)
	if !ok {
		delete(o, change.Key)
		return affected
	}
	o[change.Key] = now
	if len(affected) == 0 || before != now {
		affected = append(affected, now)
	}
	return affected
}

// controllerName returns the name of the controller of an object, if it has a kind.
func controllerName(change Change, kind schema.GroupKind) (string, bool) {
	if change.Deleted {
		return "", false
	}
	metadata, err := ParseMetadata(change.Data)
	if err != nil {
		return "", false
	}
	for _, ref := range metadata.OwnerReferences {
		if ref.Controller != nil && *ref.Controller {
			return ref.Name, isKind(ref, kind)
		}
	}
	return "", false
}

func isKind(ref metav1.OwnerReference, kind schema.GroupKind) bool {
	group, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && ref.Kind == kind.Kind && group.Group == kind.Group
}
