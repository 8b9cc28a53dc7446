package apiregistration

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func apiServices() *registry.Resource {
	r := kind.Definition{
		GroupVersion: apiregistrationv1.SchemeGroupVersion,
		Object:       &apiregistrationv1.APIService{},
		List:         &apiregistrationv1.APIServiceList{},
		Resource:     "apiservices",
		Default:      kind.Defaults(defaultAPIService),
		Categories:   []string{"api-extensions"},
		StoragePath:  "apiregistration.k8s.io/apiservices",
		JSON:         true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				ValidateName: path.ValidatePathSegmentName,
				Prepare:      prepareCreate,
				Validate:     kind.CheckCreate(validateAPIService),
			},
			Update: registry.UpdateStrategy{Validate: kind.CheckAgain(validateAPIService)},
		},
		StatusStrategy: kind.CheckedStatus(kind.CheckUpdate(validateServiceStatus)),
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Service", "string", "The reference to the service that hosts this API endpoint."),
				kind.Column("Available", "string", "Whether this service is available."),
				kind.AgeColumn(),
			},
			Row: kind.Row(apiServiceRow),
		},
	}.Build()
	r.Defines = true
	return r
}

func defaultAPIService(service *apiregistrationv1.APIService) {
	if service.Spec.Service != nil {
		kind.FillNil(&service.Spec.Service.Port, 443)
	}
}

// prepareCreate marks an API that no other server provides as available.
func prepareCreate(_ context.Context, obj runtime.Object) {
	service := obj.(*apiregistrationv1.APIService)
	if service.Spec.Service != nil {
		return
	}
	service.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
		Type:               apiregistrationv1.Available,
		Status:             apiregistrationv1.ConditionTrue,
		LastTransitionTime: metav1.Now(),
		Reason:             "Local",
		Message:            "Local APIServices are always available",
	}}
}

func apiServiceRow(service *apiregistrationv1.APIService) []any {
	host := "Local"
	if ref := service.Spec.Service; ref != nil {
		host = fmt.Sprintf("%s/%s", ref.Namespace, ref.Name)
	}
	return []any{service.Name, host, availableCell(service.Status.Conditions), kind.Age(service.CreationTimestamp)}
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
