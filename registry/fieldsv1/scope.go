package fieldsv1

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// Except is a filter of all fields but those at or below the paths of its set.
type Except struct{ Fields *fieldpath.Set }

// Filter returns the fields of a set that the filter includes.
func (e Except) Filter(set *fieldpath.Set) *fieldpath.Set { return set.RecursiveDifference(e.Fields) }

// scope has the rules for the ownership of a field and of the fields below it. Nil: no rules.
type scope struct {
	// ignored: the objects are compared without this field.
	ignored bool
	// excluded: a write does not change the ownership of the fields at or below this one.
	excluded bool
	// unowned: the field itself is removed from other managers, but a writer never owns it.
	unowned bool
	fields  map[string]*scope
}

func (s *scope) field(name string) *scope {
	if s == nil {
		return nil
	}
	return s.fields[name]
}

func (s *scope) ignores() bool  { return s != nil && s.ignored }
func (s *scope) excludes() bool { return s != nil && s.excluded }

// at returns the scope of a path, which it creates.
func (s *scope) at(path ...string) *scope {
	for _, name := range path {
		next := s.fields[name]
		if next == nil {
			next = &scope{}
			if s.fields == nil {
				s.fields = map[string]*scope{}
			}
			s.fields[name] = next
		}
		s = next
	}
	return s
}

// unownedMetadata are fields of the metadata that no manager owns.
var unownedMetadata = []string{
	"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "resourceVersion",
}

// newScope returns the scope of an object, and false for a filter that is not an Except of named
// fields.
func newScope(owns fieldpath.Filter) (*scope, bool) {
	root := &scope{}
	root.at("apiVersion").ignored = true
	root.at("kind").ignored = true
	root.at("metadata").unowned = true
	root.at("metadata", "managedFields").ignored = true
	for _, name := range unownedMetadata {
		root.at("metadata", name).unowned = true
	}
	if owns == nil {
		return root, true
	}
	except, ok := owns.(Except)
	if !ok {
		return nil, false
	}
	except.Fields.Iterate(func(path fieldpath.Path) {
		names := make([]string, len(path))
		for i, element := range path {
			if element.FieldName == nil {
				ok = false
				return
			}
			names[i] = *element.FieldName
		}
		root.at(names...).excluded = true
	})
	return root, ok
}
