package kind

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Except returns a filter of all fields but those at or below the dotted paths.
func Except(paths ...string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, path := range paths {
		set.Insert(fieldpath.MakePathOrDie(parts(path)...))
	}
	return fieldpath.NewExcludeSetFilter(set)
}

// Only returns a filter of the fields at or below the dotted paths. * is every item of a list.
func Only(paths ...string) fieldpath.Filter {
	var matchers []*fieldpath.SetMatcher
	for _, path := range paths {
		matchers = append(matchers, fieldpath.MakePrefixMatcherOrDie(parts(path)...))
	}
	return fieldpath.NewIncludeMatcherFilter(matchers...)
}

func parts(path string) []any {
	var list []any
	for part := range strings.SplitSeq(path, ".") {
		if part == "*" {
			list = append(list, fieldpath.MatchAnyPathElement())
			continue
		}
		list = append(list, part)
	}
	return list
}
