package networking

import (
	"fmt"
	"net/netip"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func ipAddresses() *registry.Resource {
	return kind.Definition{
		GroupVersion: networkingv1.SchemeGroupVersion,
		Object:       &networkingv1.IPAddress{},
		List:         &networkingv1.IPAddressList{},
		Resource:     "ipaddresses",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"ip"},
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{ValidateName: validateAddressName, Validate: kind.CheckCreate(validateAddress)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validateAddressUpdate)},
		},
		Columns: registry.Columns{
			// kube-apiserver defines two columns and fills three cells.
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("ParentRef", "string", "ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object."),
			},
			Row: kind.Row(ipAddressRow),
		},
	}.Build()
}

// validateAddressName holds an address's name to the one way of writing the
// address, so that two objects never stand for the same address.
func validateAddressName(name string, _ bool) []string {
	address, err := netip.ParseAddr(name)
	switch {
	case err != nil || address.Zone() != "":
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	case address.String() != name:
		return []string{fmt.Sprintf("must be in canonical form (%q)", address)}
	}
	return nil
}

func ipAddressRow(address *networkingv1.IPAddress) []any {
	parent := "<none>"
	if ref := address.Spec.ParentRef; ref != nil {
		resource := schema.GroupResource{Group: ref.Group, Resource: ref.Resource}
		parent = strings.ToLower(resource.String())
		if ref.Namespace != "" {
			parent += "/" + ref.Namespace
		}
		parent += "/" + ref.Name
	}
	return []any{address.Name, parent, kind.Age(address.CreationTimestamp)}
}
