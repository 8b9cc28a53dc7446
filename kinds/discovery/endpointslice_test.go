package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func slice(addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, address := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses:          []string{address},
			DeprecatedTopology: map[string]string{"zone": "z"},
		})
	}
	return s
}

func TestGenerationCountsContentAndLabels(t *testing.T) {
	old := slice("10.0.0.1")
	old.Generation = 4
	labelled, annotated, moved := old.DeepCopy(), old.DeepCopy(), slice("10.0.0.2")
	labelled.Labels = map[string]string{"kubernetes.io/service-name": "s"}
	annotated.Annotations = map[string]string{"a": "b"}
	for name, c := range map[string]struct {
		obj  *discoveryv1.EndpointSlice
		want int64
	}{
		"labels count":             {labelled, 5},
		"annotations do not count": {annotated, 4},
		"endpoints count":          {moved, 5},
		"no change":                {old.DeepCopy(), 4},
	} {
		t.Run(name, func(t *testing.T) {
			endpointSlices(feature.Default()).Strategy.Update.Prepare(t.Context(), c.obj, old)
			if c.obj.Generation != c.want {
				t.Errorf("generation %d, want %d", c.obj.Generation, c.want)
			}
		})
	}
}

func TestDeprecatedTopologyIsDropped(t *testing.T) {
	strategy := endpointSlices(feature.Default()).Strategy
	created := slice("10.0.0.1")
	strategy.Create.Prepare(t.Context(), created)
	if created.Endpoints[0].DeprecatedTopology != nil {
		t.Error("a create kept it")
	}
	old, untouched, moved := slice("10.0.0.1"), slice("10.0.0.1"), slice("10.0.0.2")
	strategy.Update.Prepare(t.Context(), untouched, old)
	if untouched.Endpoints[0].DeprecatedTopology == nil {
		t.Error("an update which leaves the endpoints alone dropped what is stored")
	}
	strategy.Update.Prepare(t.Context(), moved, old)
	if moved.Endpoints[0].DeprecatedTopology != nil {
		t.Error("an update of the endpoints kept it")
	}
}

func TestAddressTypeIsImmutable(t *testing.T) {
	changed := slice()
	changed.AddressType = discoveryv1.AddressTypeIPv6
	for release, value := range map[feature.Release]string{36: `"IPv6"`, 37: "null"} {
		errs := validateSliceUpdate(changed, slice(), feature.At(release))
		if len(errs) != 1 || errs[0].Error() != "addressType: Invalid value: "+value+": field is immutable" {
			t.Errorf("1.%d: errors %v", release, errs)
		}
	}
}

func TestWarnings(t *testing.T) {
	names := slice()
	names.AddressType = discoveryv1.AddressTypeFQDN
	if diff := cmp.Diff([]string{"spec.addressType: FQDN endpoints are deprecated"}, warningsForNewSlice(names)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	odd := slice("10.0.0.001")
	if warnings := warningsForAddresses(odd); len(warnings) != 1 {
		t.Errorf("an address with leading zeros: %q", warnings)
	}
	odd.Labels = map[string]string{discoveryv1.LabelManagedBy: "endpointslice-controller.k8s.io"}
	if warnings := warningsForAddresses(odd); len(warnings) != 0 {
		t.Errorf("the controller is warned: %q", warnings)
	}
}

func TestPortsAndEndpointsColumns(t *testing.T) {
	s := slice("1", "2", "3", "4", "5")
	s.Ports = []discoveryv1.EndpointPort{{Port: ptr.To[int32](80)}, {Name: ptr.To("web")}, {}}
	cells := registrytest.Cells(endpointSlices(feature.Default()), s)
	if cells[2] != "80,web,*" || cells[3] != "1,2,3 + 2 more..." {
		t.Errorf("ports %q, endpoints %q", cells[2], cells[3])
	}
	s.Ports = []discoveryv1.EndpointPort{{Name: ptr.To("")}}
	if cells = registrytest.Cells(endpointSlices(feature.Default()), s); cells[2] != "<unset>" {
		t.Errorf("a port without number and name: %q", cells[2])
	}
	if cells = registrytest.Cells(endpointSlices(feature.Default()), slice()); cells[2] != "<unset>" || cells[3] != "<unset>" {
		t.Errorf("without any: ports %q, endpoints %q", cells[2], cells[3])
	}
}
