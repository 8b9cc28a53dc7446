package admissionregistration

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// manifestSuffix ends the names of configurations that kube-apiserver reads from files.
const manifestSuffix = ".static.k8s.io"

const manifestName = `names ending with "` + manifestSuffix + `" are reserved for static manifest-based configurations and cannot be managed via the API`

// withReservedNames adds the reserved names to the validation of a kind: a new object with a
// reserved name is invalid, an existing one has a warning. While the gate is disabled, both have a
// warning.
func withReservedNames[T kind.Object](d kind.Definition[T], features *feature.Set) kind.Definition[T] {
	create, warnings := d.ValidateCreate, d.Warnings
	if create == nil {
		create = d.Validate
	}
	reserved := features.Enabled(feature.ManifestBasedAdmissionControlConfig)
	d.ValidateCreate = func(obj T) field.ErrorList {
		errs := create(obj)
		if reserved && strings.HasSuffix(obj.GetName(), manifestSuffix) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), obj.GetName(), manifestName))
		}
		return errs
	}
	d.Warnings = func(obj T) []string {
		var list []string
		if strings.HasSuffix(obj.GetName(), manifestSuffix) {
			list = append(list, "metadata.name: "+manifestName)
		}
		if warnings != nil {
			list = append(list, warnings(obj)...)
		}
		return list
	}
	return d
}
