package discovery

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func endpointSlices() *registry.Resource {
	doc := discoveryv1.EndpointSlice{}.SwaggerDoc()
	return kind.Definition{
		GroupVersion: discoveryv1.SchemeGroupVersion,
		Object:       &discoveryv1.EndpointSlice{},
		List:         &discoveryv1.EndpointSliceList{},
		Resource:     "endpointslices",
		Default:      kind.Defaults(defaultEndpointSlice),
		Namespaced:   true,
		Generation:   true,
		Changed:      endpointSliceChanged,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  func(_ context.Context, obj runtime.Object) { dropTopology(obj) },
				Warnings: warnOnCreate,
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            prepareUpdate,
				Validate:           validateUpdate,
				Warnings:           warnOnUpdate,
			},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("AddressType", "string", doc["addressType"]),
				kind.Column("Ports", "string", doc["ports"]),
				kind.Column("Endpoints", "string", doc["endpoints"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(endpointSliceRow),
		},
	}.Build()
}

// endpointSliceChanged counts labels as content, for they say which service a
// slice belongs to.
func endpointSliceChanged(obj, old runtime.Object) bool {
	slice, oldSlice := obj.(*discoveryv1.EndpointSlice), old.(*discoveryv1.EndpointSlice)
	return slice.AddressType != oldSlice.AddressType ||
		!equality.Semantic.DeepEqual(slice.Endpoints, oldSlice.Endpoints) ||
		!equality.Semantic.DeepEqual(slice.Ports, oldSlice.Ports) ||
		!equality.Semantic.DeepEqual(slice.Labels, oldSlice.Labels)
}

// dropTopology drops a field of v1beta1 which v1 can be read with but not
// written.
func dropTopology(obj runtime.Object) {
	endpoints := obj.(*discoveryv1.EndpointSlice).Endpoints
	for i := range endpoints {
		endpoints[i].DeprecatedTopology = nil
	}
}

func prepareUpdate(_ context.Context, obj, old runtime.Object) {
	endpoints := obj.(*discoveryv1.EndpointSlice).Endpoints
	if !equality.Semantic.DeepEqual(endpoints, old.(*discoveryv1.EndpointSlice).Endpoints) {
		dropTopology(obj)
	}
}

func validateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateImmutableField(
		obj.(*discoveryv1.EndpointSlice).AddressType,
		old.(*discoveryv1.EndpointSlice).AddressType,
		field.NewPath("addressType"))
}

func warnOnCreate(_ context.Context, obj runtime.Object) []string {
	slice := obj.(*discoveryv1.EndpointSlice)
	var warnings []string
	if slice.AddressType == discoveryv1.AddressTypeFQDN {
		warnings = append(warnings, "spec.addressType: FQDN endpoints are deprecated")
	}
	return append(warnings, addressWarnings(slice)...)
}

func warnOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return addressWarnings(obj.(*discoveryv1.EndpointSlice))
}

// addressWarnings leaves out the slices of the two controllers which write
// addresses in canonical form.
func addressWarnings(slice *discoveryv1.EndpointSlice) []string {
	switch slice.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return nil
	}
	var warnings []string
	for i, endpoint := range slice.Endpoints {
		for j, address := range endpoint.Addresses {
			path := field.NewPath("endpoints").Index(i).Child("addresses").Index(j)
			warnings = append(warnings, utilvalidation.GetWarningsForIP(path, address)...)
		}
	}
	return warnings
}

func endpointSliceRow(slice *discoveryv1.EndpointSlice) []any {
	var addresses []string
	for _, endpoint := range slice.Endpoints {
		addresses = append(addresses, endpoint.Addresses...)
	}
	return []any{
		slice.Name,
		string(slice.AddressType),
		firstThree(portCells(slice.Ports)),
		firstThree(addresses),
		kind.Age(slice.CreationTimestamp),
	}
}

func portCells(ports []discoveryv1.EndpointPort) []string {
	cells := make([]string, len(ports))
	for i, port := range ports {
		switch {
		case port.Port != nil:
			cells[i] = strconv.Itoa(int(*port.Port))
		case port.Name != nil:
			cells[i] = *port.Name
		default:
			cells[i] = "*"
		}
	}
	return cells
}

func firstThree(cells []string) string {
	const limit = 3
	switch {
	case len(cells) == 0:
		return "<unset>"
	case len(cells) > limit:
		return fmt.Sprintf("%s + %d more...", strings.Join(cells[:limit], ","), len(cells)-limit)
	}
	return strings.Join(cells, ",")
}
