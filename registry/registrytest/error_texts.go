package registrytest

import "k8s.io/apimachinery/pkg/util/validation/field"

// Texts returns the texts of field errors.
func Texts(errs field.ErrorList) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}
