package apiextensions

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// definitions leaves the metadata of status writes alone: kube-apiserver means
// to put it back and does not.
func definitions() *registry.Resource {
	r := kind.Definition{
		GroupVersion: apiextensionsv1.SchemeGroupVersion,
		Object:       &apiextensionsv1.CustomResourceDefinition{},
		List:         &apiextensionsv1.CustomResourceDefinitionList{},
		Resource:     "customresourcedefinitions",
		Default:      kind.Defaults(defaultDefinition),
		ShortNames:   []string{"crd", "crds"},
		Categories:   []string{"api-extensions"},
		StoragePath:  "apiextensions.k8s.io/customresourcedefinitions",
		Codec:        codec{},
		Generation:   true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  func(_ context.Context, obj runtime.Object) { recordStoredVersion(obj) },
				Validate: validateDefinition,
				Warnings: func(_ context.Context, obj runtime.Object) []string { return warnings(obj, nil) },
			},
			Update: registry.UpdateStrategy{
				Prepare:  func(_ context.Context, obj, _ runtime.Object) { recordStoredVersion(obj) },
				Validate: validateDefinitionUpdate,
				Warnings: func(_ context.Context, obj, old runtime.Object) []string { return warnings(obj, old) },
			},
			Delete: registry.DeleteStrategy{Holds: isLive, Mark: markTerminating},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: validateDefinitionStatus},
	}.Build()
	r.Defines = true
	r.StorageVersion = apiextensionsv1beta1.SchemeGroupVersion.Version
	return r
}

// recordStoredVersion notes that there may be objects of the storage version in
// etcd from now on.
func recordStoredVersion(obj runtime.Object) {
	definition := obj.(*apiextensionsv1.CustomResourceDefinition)
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
