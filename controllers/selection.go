package controllers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/miniapi/miniapi/internal/suggest"
)

// None, alone in a list, selects no controller.
const None = "-*"

// selected returns the controllers that a list of names selects, in the order of the table. The
// list has the syntax of kube-controller-manager: "*" selects all controllers that are on by
// default, "name" selects and "-name" removes a controller. The first entry for a controller
// counts. Nil is "*".
func selected(names []string) []controller {
	if names == nil {
		names = []string{"*"}
	}
	return slices.DeleteFunc(slices.Clone(table), func(c controller) bool { return !c.isSelected(names) })
}

func (c controller) isSelected(names []string) bool {
	for _, name := range names {
		switch base, removed := strings.CutPrefix(name, "-"); {
		case base == c.name || base == c.alias:
			return !removed
		}
	}
	return slices.Contains(names, "*") && !c.named
}

// validate returns an error for each name that is unknown.
func validate(names []string) error {
	var errs []error
	for _, name := range names {
		base := strings.TrimPrefix(name, "-")
		known := slices.ContainsFunc(table, func(c controller) bool { return base == c.name || base == c.alias })
		if name != "*" && name != None && !known {
			errs = append(errs, fmt.Errorf("controller %q is unknown: use *, or %s (--controllers)%s", name, knownNames(), suggestion(base)))
		}
	}
	return errors.Join(errs...)
}

// suggestion returns the end of an error text with the name that is most similar.
func suggestion(name string) string {
	var names []string
	for _, c := range table {
		names = append(names, c.name, c.alias)
	}
	return suggest.DidYouMean(name, names)
}

// knownNames returns the names of all controllers, for error texts.
func knownNames() string {
	var names []string
	for _, c := range table {
		names = append(names, fmt.Sprintf("%s (%s)", c.name, c.alias))
	}
	return strings.Join(names, ", ")
}
