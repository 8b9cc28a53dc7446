package networking

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestGenerateNameOfAnAddressIsTheName(t *testing.T) {
	e := registrytest.New(t, nil, ipAddresses(feature.Default()))
	entry := e.Create("ipaddresses.networking.k8s.io", &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "10.0.0.7"},
		Spec:       networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Name: "s"}},
	})
	if name := registrytest.Meta(entry).GetName(); name != "10.0.0.7" {
		t.Errorf("name %q", name)
	}
}
