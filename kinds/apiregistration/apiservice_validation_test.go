package apiregistration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func newAPIService() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.exam.org"}, Spec: apiregistrationv1.APIServiceSpec{
		Group: "exam.org", Version: "v1", GroupPriorityMinimum: 100, VersionPriority: 10,
		Service: &apiregistrationv1.ServiceReference{Namespace: "n", Name: "s", Port: new(int32(443))},
	}}
}

func TestAPIServices(t *testing.T) {
	type service = apiregistrationv1.APIService
	check := registrytest.Rules(t, newAPIService, validateAPIService)
	check("a local service", func(s *service) { s.Spec.Service = nil })
	check("a local service has no certificates", func(s *service) {
		s.Spec.Service, s.Spec.CABundle, s.Spec.InsecureSkipTLSVerify = nil, []byte("ca"), true
	},
		`spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle`,
		"spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify")
	check("insecureSkipTLSVerify excludes a CA bundle", func(s *service) { s.Spec.CABundle, s.Spec.InsecureSkipTLSVerify = []byte("ca"), true },
		"spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present")
	check("the name is version and group", func(s *service) { s.Name = "v2.exam.org" },
		"metadata.name: Invalid value: \"v2.exam.org\": must be `spec.version+\".\"+spec.group`: \"v1.exam.org\"")
	check("the core group has version v1 only", func(s *service) { s.Name, s.Spec.Group, s.Spec.Version = "v2.", "", "v2" },
		"spec.group: Required value: only v1 may have an empty group and it better be legacy kube")
	check("priorities are in range", func(s *service) { s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = 20001, 0 },
		"spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
		"spec.versionPriority: Invalid value: 0: must be positive and less than 1000")
	check("a service has a name and a port", func(s *service) { s.Spec.Service = &apiregistrationv1.ServiceReference{} },
		"spec.service.namespace: Required value", "spec.service.name: Required value",
		"spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive")
	registrytest.Rules(t, newAPIService, func(s *service) field.ErrorList { return validateServiceStatus(s, nil) })(
		"a condition is true, false or unknown", func(s *service) { s.Status.Conditions = make([]apiregistrationv1.APIServiceCondition, 1) },
		`status.conditions[0].status: Unsupported value: "": supported values: "True", "False", "Unknown"`)
}
