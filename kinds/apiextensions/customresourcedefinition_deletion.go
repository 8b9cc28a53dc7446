package apiextensions

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isLive reports whether a definition has not been deleted. Its first deletion only marks it,
// because its objects are deleted first.
func isLive(definition *apiextensionsv1.CustomResourceDefinition) bool {
	return definition.DeletionTimestamp == nil
}

// markTerminating starts the deletion of the definition's objects. The definition keeps its
// finalizers, whatever the options say.
func markTerminating(definition *apiextensionsv1.CustomResourceDefinition, _ *metav1.DeleteOptions) {
	const finalizer = apiextensionsv1.CustomResourceCleanupFinalizer
	if !slices.Contains(definition.Finalizers, finalizer) {
		definition.Finalizers = append(slices.Clip(definition.Finalizers), finalizer)
	}
	apihelpers.SetCRDCondition(definition, apiextensionsv1.CustomResourceDefinitionCondition{
		Type:    apiextensionsv1.Terminating,
		Status:  apiextensionsv1.ConditionTrue,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}
