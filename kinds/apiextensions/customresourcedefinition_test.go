package apiextensions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/kinds/feature"
)

func definitionOf(storage string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{}
	for _, name := range versions {
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Storage: name == storage})
	}
	return d
}

func TestStoredVersionsGrowWithTheStorageVersion(t *testing.T) {
	strategy := definitions(feature.Default()).Strategy
	first := definitionOf("v1", "v1")
	first.Status.StoredVersions = []string{"v0"}
	strategy.Create.Prepare(t.Context(), first)
	if diff := cmp.Diff([]string{"v1"}, first.Status.StoredVersions); diff != "" {
		t.Errorf("after the creation (-want +got):\n%s", diff)
	}

	second := definitionOf("v2", "v1", "v2")
	strategy.Update.Prepare(t.Context(), second, first)
	if diff := cmp.Diff([]string{"v1", "v2"}, second.Status.StoredVersions); diff != "" {
		t.Errorf("after a change of the storage version (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"v1"}, first.Status.StoredVersions); diff != "" {
		t.Errorf("the update changed the old object:\n%s", diff)
	}

	third := definitionOf("v2", "v1", "v2")
	strategy.Update.Prepare(t.Context(), third, second)
	if third.Generation != second.Generation || len(third.Status.StoredVersions) != 2 {
		t.Errorf("an update that changes nothing gave generation %d and stored versions %v", third.Generation, third.Status.StoredVersions)
	}
}
