package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func ipAddresses(features *feature.Set) *registry.Resource {
	return kind.Definition[*networkingv1.IPAddress]{
		GroupVersion:             networkingv1.SchemeGroupVersion,
		Object:                   &networkingv1.IPAddress{},
		List:                     &networkingv1.IPAddressList{},
		Resource:                 "ipaddresses",
		ShortNames:               []string{"ip"},
		ValidateName:             validateAddressName,
		GenerateName:             func(base string) string { return base }, // an address with a suffix is none
		ValidateCreate:           validateAddress,
		AllowUnconditionalUpdate: true,
		ValidateUpdate: func(a, old *networkingv1.IPAddress) field.ErrorList {
			return validateAddressUpdate(a, old, features)
		},
		// kube-apiserver fills three cells and defines two columns.
		Columns: []kind.Column[*networkingv1.IPAddress]{
			kind.NameColumn[*networkingv1.IPAddress](),
			kind.TextColumn("ParentRef", kind.FieldDoc(features, networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"], "parentRef", "ParentRef"),
				func(address *networkingv1.IPAddress) any { return parentCell(address.Spec.ParentRef) }),
			{Cell: kind.AgeColumn[*networkingv1.IPAddress]().Cell},
		},
	}.Build(features)
}

func parentCell(ref *networkingv1.ParentReference) string {
	if ref == nil {
		return kind.None
	}
	resource := schema.GroupResource{Group: ref.Group, Resource: ref.Resource}
	parent := strings.ToLower(resource.String())
	if ref.Namespace != "" {
		parent += "/" + ref.Namespace
	}
	return parent + "/" + ref.Name
}
