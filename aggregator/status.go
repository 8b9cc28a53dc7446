package aggregator

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/miniapi/miniapi/registry"
)

// writeCondition sets a condition in the status of an APIService. Errors are logged.
func (a *Aggregator) writeCondition(ctx context.Context, service *apiregistrationv1.APIService, condition apiregistrationv1.APIServiceCondition) {
	store, err := a.store(apiServices)
	if err == nil {
		_, err = store.Update(ctx, registry.UpdateRequest{
			Name: service.Name, Subresource: "status", UID: service.UID,
			Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
				next := current.DeepCopyObject().(*apiregistrationv1.APIService)
				helper.SetAPIServiceCondition(next, condition)
				return next, nil
			},
			Options: registry.WriteOptions{FieldManager: fieldManager},
		})
	}
	deleted := apierrors.IsNotFound(err) || apierrors.IsConflict(err) // a conflict: the UID differs
	if err != nil && !deleted && ctx.Err() == nil {
		a.config.Logger.WarnContext(ctx, "aggregator: the status of an APIService cannot be written", "name", service.Name, "error", err)
	}
}
