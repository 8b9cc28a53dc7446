package apiextensions

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// definitions does not restore metadata on a write of the status: neither does kube-apiserver.
func definitions(features *feature.Set) *registry.Resource {
	r := kind.Definition[*apiextensionsv1.CustomResourceDefinition]{
		GroupVersion:          apiextensionsv1.SchemeGroupVersion,
		Object:                &apiextensionsv1.CustomResourceDefinition{},
		List:                  &apiextensionsv1.CustomResourceDefinitionList{},
		Resource:              "customresourcedefinitions",
		UnqualifiedFinalizers: true,
		Default:               defaultDefinition,
		ShortNames:            []string{"crd", "crds"},
		Categories:            []string{"api-extensions"},
		StoragePath:           "apiextensions.k8s.io/customresourcedefinitions",
		Codec:                 codec{},
		Generation:            true,
		Status:                true,
		PrepareForCreate: func(_ context.Context, definition *apiextensionsv1.CustomResourceDefinition) {
			recordStoredVersion(definition)
		},
		WarningsOnCreate: func(definition *apiextensionsv1.CustomResourceDefinition) []string { return warnings(definition, nil) },
		PrepareForUpdate: func(_ context.Context, definition, _ *apiextensionsv1.CustomResourceDefinition) {
			recordStoredVersion(definition)
		},
		WarningsOnUpdate: warnings,
		Columns:          definitionColumns(features),
		HoldsDeletion:    isLive,
		MarkDeleted:      markTerminating,
	}.Build(features)
	// The validation of apiextensions-apiserver takes the context of the request.
	r.Strategy.Create.Validate = validateDefinition
	r.Strategy.Update.Validate = validateDefinitionUpdate
	status, _ := r.Subresource("status")
	status.Update.Validate = validateDefinitionStatus
	if features.Enabled(feature.DefinitionPreconditions) {
		r.Strategy.Delete.PreconditionText = "precondition failed"
	}
	r.Defines = true
	r.StorageVersion = apiextensionsv1beta1.SchemeGroupVersion.Version
	return r
}

// recordStoredVersion adds the storage version to status.storedVersions.
func recordStoredVersion(definition *apiextensionsv1.CustomResourceDefinition) {
	for _, version := range definition.Spec.Versions {
		if !version.Storage {
			continue
		}
		if stored := definition.Status.StoredVersions; !slices.Contains(stored, version.Name) {
			definition.Status.StoredVersions = append(slices.Clip(stored), version.Name)
		}
		return
	}
}
