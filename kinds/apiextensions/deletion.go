package apiextensions

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// isLive: the first deletion of a definition only marks it, for its objects go
// before it.
func isLive(obj runtime.Object) bool {
	return obj.(*apiextensionsv1.CustomResourceDefinition).DeletionTimestamp == nil
}

// markTerminating asks for the objects to be deleted.
func markTerminating(obj runtime.Object) {
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
