package core

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func endpoints(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.Endpoints]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.Endpoints{},
		List:                     &corev1.EndpointsList{},
		Resource:                 "endpoints",
		GenerateNameOnUpdate:     true,
		StoragePath:              "services/endpoints",
		ShortNames:               []string{"ep"},
		Namespaced:               true,
		Default:                  defaultEndpoints,
		Validate:                 validateEndpoints,
		Warnings:                 warningsForEndpoints,
		AllowCreateOnUpdate:      true,
		AllowUnconditionalUpdate: true,
		Columns: kind.StandardColumns(
			kind.TextColumn("Endpoints", corev1.Endpoints{}.SwaggerDoc()["subsets"],
				func(e *corev1.Endpoints) any { return addressesCell(e.Subsets) }),
		),
	}.Build(features)
}

// addressesCell shows the first three addresses with their ports.
func addressesCell(subsets []corev1.EndpointSubset) string {
	const shown = 3
	var list []string
	for _, subset := range subsets {
		list = append(list, subsetAddresses(subset)...)
	}
	switch {
	case len(subsets) == 0:
		return kind.None
	case len(list) > shown:
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ","), len(list)-shown)
	default:
		return strings.Join(list, ",")
	}
}

func subsetAddresses(subset corev1.EndpointSubset) []string {
	var list []string
	if len(subset.Ports) == 0 {
		// The endpoints of a headless service may have no ports.
		for _, a := range subset.Addresses {
			list = append(list, a.IP)
		}
		return list
	}
	for _, port := range subset.Ports {
		for _, a := range subset.Addresses {
			list = append(list, net.JoinHostPort(a.IP, strconv.Itoa(int(port.Port))))
		}
	}
	return list
}
