package apiextensions

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// isLive reports whether a definition was not deleted yet: its first deletion
// only marks it, since its objects go before it.
func isLive(obj runtime.Object) bool {
	return obj.(*apiextensionsv1.CustomResourceDefinition).DeletionTimestamp == nil
}

// markTerminating starts the deletion of the definition's objects. A definition
// keeps the finalizers that it has, whatever the options ask for.
func markTerminating(obj runtime.Object, _ *metav1.DeleteOptions) {
	definition := obj.(*apiextensionsv1.CustomResourceDefinition)
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
