package discovery

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultEndpointSlice),
		Namespaced:   true,
		Generation:   true,
		Changed:      endpointSliceChanged,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  kind.OnCreate(dropTopology),
				Validate: kind.CheckCreate(validateNewSlice),
				Warnings: kind.WarnCreate(warnOfNewSlice),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(prepareUpdate),
				Validate:           kind.CheckUpdate(validateSliceUpdate),
				Warnings:           kind.WarnAgain(warnOfAddresses),
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
func dropTopology(slice *discoveryv1.EndpointSlice) {
	for i := range slice.Endpoints {
		slice.Endpoints[i].DeprecatedTopology = nil
	}
}

func prepareUpdate(slice, old *discoveryv1.EndpointSlice) {
	if !equality.Semantic.DeepEqual(slice.Endpoints, old.Endpoints) {
		dropTopology(slice)
	}
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
	if len(cells) > limit {
		return fmt.Sprintf("%s + %d more...", strings.Join(cells[:limit], ","), len(cells)-limit)
	}
	return cmp.Or(strings.Join(cells, ","), "<unset>")
}
