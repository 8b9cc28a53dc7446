package discovery

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func endpointSlices(features *feature.Set) *registry.Resource {
	doc := discoveryv1.EndpointSlice{}.SwaggerDoc()
	return kind.Definition[*discoveryv1.EndpointSlice]{
		GroupVersion:             discoveryv1.SchemeGroupVersion,
		Object:                   &discoveryv1.EndpointSlice{},
		List:                     &discoveryv1.EndpointSliceList{},
		Resource:                 "endpointslices",
		GenerateNameOnUpdate:     true,
		Default:                  defaultEndpointSlice,
		Namespaced:               true,
		Generation:               true,
		Changed:                  endpointSliceChanged,
		Warnings:                 warningsForAddresses,
		PrepareForCreate:         func(_ context.Context, slice *discoveryv1.EndpointSlice) { dropTopology(slice) },
		ValidateCreate:           validateNewSlice,
		WarningsOnCreate:         warningsForNewSlice,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         prepareUpdate,
		ValidateUpdate: func(s, old *discoveryv1.EndpointSlice) field.ErrorList {
			return validateSliceUpdate(s, old, features)
		},
		Columns: kind.StandardColumns(
			kind.TextColumn("AddressType", doc["addressType"],
				func(slice *discoveryv1.EndpointSlice) any { return string(slice.AddressType) }),
			kind.TextColumn("Ports", doc["ports"],
				func(slice *discoveryv1.EndpointSlice) any { return firstThree(portCells(slice.Ports)) }),
			kind.TextColumn("Endpoints", doc["endpoints"],
				func(slice *discoveryv1.EndpointSlice) any { return firstThree(addressCells(slice.Endpoints)) }),
		),
	}.Build(features)
}

// endpointSliceChanged compares labels too: they name the service of a slice.
func endpointSliceChanged(slice, old *discoveryv1.EndpointSlice) bool {
	return slice.AddressType != old.AddressType ||
		!equality.Semantic.DeepEqual(slice.Endpoints, old.Endpoints) ||
		!equality.Semantic.DeepEqual(slice.Ports, old.Ports) ||
		!equality.Semantic.DeepEqual(slice.Labels, old.Labels)
}

// dropTopology drops the deprecated topology of v1beta1, which v1 serves but does not accept.
func dropTopology(slice *discoveryv1.EndpointSlice) {
	for i := range slice.Endpoints {
		slice.Endpoints[i].DeprecatedTopology = nil
	}
}

func prepareUpdate(_ context.Context, slice, old *discoveryv1.EndpointSlice) {
	if !equality.Semantic.DeepEqual(slice.Endpoints, old.Endpoints) {
		dropTopology(slice)
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
	if len(cells) > limit {
		return fmt.Sprintf("%s + %d more...", strings.Join(cells[:limit], ","), len(cells)-limit)
	}
	return cmp.Or(strings.Join(cells, ","), "<unset>")
}

func addressCells(endpoints []discoveryv1.Endpoint) []string {
	var cells []string
	for i := range endpoints {
		cells = append(cells, endpoints[i].Addresses...)
	}
	return cells
}
