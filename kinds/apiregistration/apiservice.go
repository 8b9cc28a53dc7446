package apiregistration

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func apiServices(features *feature.Set) *registry.Resource {
	r := kind.Definition[*apiregistrationv1.APIService]{
		GroupVersion:          apiregistrationv1.SchemeGroupVersion,
		Object:                &apiregistrationv1.APIService{},
		List:                  &apiregistrationv1.APIServiceList{},
		Resource:              "apiservices",
		UnqualifiedFinalizers: true,
		Default:               defaultAPIService,
		Categories:            []string{"api-extensions"},
		StoragePath:           "apiregistration.k8s.io/apiservices",
		JSON:                  true,
		Status:                true,
		ValidateName:          path.ValidatePathSegmentName,
		Validate:              validateAPIService,
		PrepareForCreate:      prepareCreate,
		StatusKeepsMetadata:   true,
		ValidateStatusUpdate:  validateServiceStatus,
		Columns: kind.StandardColumns(
			kind.TextColumn("Service", "The reference to the service that hosts this API endpoint.",
				func(service *apiregistrationv1.APIService) any { return serviceCell(service.Spec.Service) }),
			kind.TextColumn("Available", "Whether this service is available.",
				func(service *apiregistrationv1.APIService) any { return availableCell(service.Status.Conditions) }),
		),
	}.Build(features)
	r.Defines = true
	return r
}

// prepareCreate marks an APIService without a backend as available.
func prepareCreate(ctx context.Context, service *apiregistrationv1.APIService) {
	if service.Spec.Service != nil {
		return
	}
	service.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
		Type:               apiregistrationv1.Available,
		Status:             apiregistrationv1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(registry.Now(ctx)),
		Reason:             "Local",
		Message:            "Local APIServices are always available",
	}}
}

func availableCell(conditions []apiregistrationv1.APIServiceCondition) string {
	for _, condition := range conditions {
		switch {
		case condition.Type != apiregistrationv1.Available:
		case condition.Status != apiregistrationv1.ConditionTrue && condition.Reason != "":
			return fmt.Sprintf("%s (%s)", condition.Status, condition.Reason)
		default:
			return string(condition.Status)
		}
	}
	return string(apiregistrationv1.ConditionUnknown)
}

func serviceCell(ref *apiregistrationv1.ServiceReference) string {
	if ref == nil {
		return "Local"
	}
	return fmt.Sprintf("%s/%s", ref.Namespace, ref.Name)
}
