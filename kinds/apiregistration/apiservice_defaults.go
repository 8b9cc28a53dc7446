package apiregistration

import (
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultAPIService(service *apiregistrationv1.APIService) {
	if service.Spec.Service != nil {
		kind.SetDefaultPointer(&service.Spec.Service.Port, 443)
	}
}
