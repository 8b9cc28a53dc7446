package registrytest

import "k8s.io/apimachinery/pkg/util/validation/field"

// Texts returns the faults that a validation found, as clients read them.
func Texts(faults field.ErrorList) []string {
	var texts []string
	for _, fault := range faults {
		texts = append(texts, fault.Error())
	}
	return texts
}
