package crd

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// deprecationOf returns the warning for clients of a deprecated version. The default recommends the
// latest version.
func deprecationOf(d *definition, spec *apiextensionsv1.CustomResourceDefinitionVersion, all []apiextensionsv1.CustomResourceDefinitionVersion) string {
	if spec.DeprecationWarning != nil {
		return *spec.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", d.group, spec.Name, d.names.Kind)
	var later []string
	for _, v := range all {
		if v.Served && !v.Deprecated && apiversion.CompareKubeAwareVersionStrings(spec.Name, v.Name) < 0 {
			later = append(later, v.Name)
		}
	}
	if len(later) == 0 {
		return text
	}
	latest := slices.MaxFunc(later, apiversion.CompareKubeAwareVersionStrings)
	return fmt.Sprintf("%s; use %s/%s %s", text, d.group, latest, d.names.Kind)
}
