package apiextensions

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// defaultDefinition sets the names that derive from the kind, and the stored version if none is
// recorded.
func defaultDefinition(definition *apiextensionsv1.CustomResourceDefinition) {
	spec := &definition.Spec
	if spec.Names.Singular == "" {
		spec.Names.Singular = strings.ToLower(spec.Names.Kind)
	}
	if spec.Names.ListKind == "" && spec.Names.Kind != "" {
		spec.Names.ListKind = spec.Names.Kind + "List"
	}
	stored := slices.IndexFunc(spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if len(definition.Status.StoredVersions) == 0 && stored >= 0 {
		definition.Status.StoredVersions = []string{spec.Versions[stored].Name}
	}
	kind.SetDefaultPointer(&spec.Conversion, apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter})
	if webhook := spec.Conversion.Webhook; webhook != nil && webhook.ClientConfig != nil && webhook.ClientConfig.Service != nil {
		kind.SetDefaultPointer(&webhook.ClientConfig.Service.Port, 443)
	}
}
