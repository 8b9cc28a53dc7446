package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	mostResponders = 10
	// The priorities of responders. Priorities below leastPriority are reserved.
	leastPriority = 1_000
	mostPriority  = 100_000
)

// validateEvictionResponders requires unique names, and priorities.
func validateEvictionResponders(list []corev1.EvictionResponder, at *field.Path) field.ErrorList {
	if len(list) > mostResponders {
		return field.ErrorList{field.TooMany(at, len(list), mostResponders)}
	}
	var errs field.ErrorList
	names := sets.New[string]()
	for i, r := range list {
		at := at.Index(i)
		if names.Has(r.Name) {
			errs = append(errs, field.Duplicate(at, r))
		}
		names.Insert(r.Name)
		errs = append(errs, validateResponderName(r.Name, at.Child("name"))...)
		errs = append(errs, validateResponderPriority(r.Priority, at.Child("priority"))...)
	}
	return errs
}

func validateResponderName(name string, at *field.Path) field.ErrorList {
	errs := kind.Formatted(at, name, content.IsPrefixedLabelKey)
	domain, _, _ := strings.Cut(name, "/")
	for _, reserved := range []string{"k8s.io", "kubernetes.io"} {
		if strings.HasSuffix("."+domain, "."+reserved) {
			errs = append(errs, field.Invalid(at, name, "domain names *.k8s.io, *.kubernetes.io are reserved"))
		}
	}
	return errs
}

func validateResponderPriority(priority *int32, at *field.Path) field.ErrorList {
	switch p := priority; {
	case p == nil:
		return field.ErrorList{field.Required(at, "")}
	case *p < 0:
		return field.ErrorList{field.Invalid(at, *p, content.MinError(0))}
	case *p < leastPriority:
		return field.ErrorList{field.Invalid(at, *p, "priorities 0-999 are reserved for responders with *.k8s.io suffix")}
	case *p > mostPriority:
		return field.ErrorList{field.Invalid(at, *p, content.MaxError(mostPriority))}
	}
	return nil
}
