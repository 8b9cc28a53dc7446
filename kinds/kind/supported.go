package kind

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Supported wants one of a few words, and takes the empty one for a word that
// is not among them. The message lists them in the order given.
func Supported[T ~string](at *field.Path, value T, words ...T) field.ErrorList {
	if slices.Contains(words, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, words)}
}
