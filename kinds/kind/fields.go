package kind

import (
	"fmt"
	"slices"
)

// FieldLabels returns a FieldLabel function which takes the given labels, and
// metadata.name and metadata.namespace, as they are and refuses all others.
func FieldLabels(labels ...string) func(label, value string) (string, string, error) {
	return func(label, value string) (string, string, error) {
		if label == "metadata.name" || label == "metadata.namespace" || slices.Contains(labels, label) {
			return label, value, nil
		}
		return "", "", fmt.Errorf("field label not supported: %s", label)
	}
}
