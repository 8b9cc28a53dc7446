package kind

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/registry/fieldsv1"
)

// Except returns a filter of all fields but those at or below the dotted paths.
func Except(paths ...string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, path := range paths {
		set.Insert(fieldpath.MakePathOrDie(parts(path)...))
	}
	return fieldsv1.Except{Fields: set}
}

func parts(path string) []any {
	var list []any
	for part := range strings.SplitSeq(path, ".") {
		list = append(list, part)
	}
	return list
}
