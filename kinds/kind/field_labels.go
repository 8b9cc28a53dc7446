package kind

import (
	"fmt"
	"slices"
)

// FieldLabels returns a FieldLabel function which takes the given labels as they
// are and refuses all others.
func FieldLabels(labels ...string) func(label, value string) (string, string, error) {
	return FieldLabelsElse("field label not supported: %s", labels...)
}

// FieldLabelsElse is FieldLabels with a text of its own, formatted with the label
// that is refused.
func FieldLabelsElse(text string, labels ...string) func(label, value string) (string, string, error) {
	return func(label, value string) (string, string, error) {
		if slices.Contains(labels, label) {
			return label, value, nil
		}
		return "", "", fmt.Errorf(text, label)
	}
}
