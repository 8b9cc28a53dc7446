package kind

import (
	"fmt"
	"slices"
)

// FieldLabels returns a FieldLabel function that accepts the given labels and rejects all others.
func FieldLabels(labels ...string) func(label, value string) (string, string, error) {
	return FieldLabelsElse("field label not supported: %s", labels...)
}

// FieldLabelsElse is FieldLabels with another error text, formatted with the rejected label.
func FieldLabelsElse(text string, labels ...string) func(label, value string) (string, string, error) {
	return func(label, value string) (string, string, error) {
		if slices.Contains(labels, label) {
			return label, value, nil
		}
		return "", "", fmt.Errorf(text, label)
	}
}
