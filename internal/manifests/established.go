package manifests

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// awaitEstablished blocks until the resource of a definition is served. It returns an error if the
// definition is not accepted or is being deleted.
func (a *Applier) awaitEstablished(ctx context.Context, definition *unstructured.Unstructured) error {
	watcher, err := a.objects.Resource(definitions).Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, definition.GetName()).String(),
		ResourceVersion: definition.GetResourceVersion(),
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for {
		established, err := isEstablished(definition)
		if established || err != nil {
			return err
		}
		event, open := <-watcher.ResultChan()
		next, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !open || !ok:
			return errors.New("the watch of its status has ended")
		case event.Type == watch.Deleted:
			return errDeleted
		}
		definition = next
	}
}

var errDeleted = errors.New("it is being deleted: retry after the deletion")

// isEstablished reports whether a definition is served. It returns an error if it will not be.
func isEstablished(definition *unstructured.Unstructured) (bool, error) {
	if definition.GetDeletionTimestamp() != nil {
		return false, errDeleted
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(definition.Object, &crd); err != nil {
		return false, err
	}
	if apihelpers.IsCRDConditionTrue(&crd, apiextensionsv1.Established) {
		return true, nil
	}
	names := apihelpers.FindCRDCondition(&crd, apiextensionsv1.NamesAccepted)
	if names != nil && names.Status == apiextensionsv1.ConditionFalse {
		return false, fmt.Errorf("its names are not accepted: %s", names.Message)
	}
	return false, nil
}
