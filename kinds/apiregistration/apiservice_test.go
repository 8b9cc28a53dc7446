package apiregistration

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// TestAPIServicesAtRestMatchKubeAPIServer decodes and encodes a value that kube-apiserver wrote.
func TestAPIServicesAtRestMatchKubeAPIServer(t *testing.T) {
	want, err := os.ReadFile("testdata/at-rest.json")
	if err != nil {
		t.Fatal(err)
	}
	codec := apiServices(feature.Default()).Codec
	obj, err := codec.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.Encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("at rest (-want +got):\n%s", diff)
	}
}

func TestNewLocalAPIServicesAreAvailable(t *testing.T) {
	forged := apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{{
		Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, Reason: "Forged",
	}}}
	for name, c := range map[string]struct {
		service *apiregistrationv1.ServiceReference
		cell    string
		host    string
	}{
		"local":        {nil, "True", "Local"},
		"of a service": {&apiregistrationv1.ServiceReference{Namespace: "demo", Name: "s"}, "Unknown", "demo/s"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &apiregistrationv1.APIService{Status: forged}
			obj.Spec.Service = c.service
			apiServices(feature.Default()).Strategy.Create.Prepare(t.Context(), obj)
			cells := registrytest.Cells(apiServices(feature.Default()), obj)
			if cells[1] != c.host || cells[2] != c.cell {
				t.Errorf("Service %v, Available %v; want %s, %s", cells[1], cells[2], c.host, c.cell)
			}
		})
	}
}
