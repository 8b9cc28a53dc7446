package resource

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const poolDescription = `Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.

It must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.`

func resourceSlices() *registry.Resource {
	d := definition("resourceslices", &resourcev1.ResourceSlice{}, &resourcev1.ResourceSliceList{})
	d.Generation = true
	d.Strategy.Create.Prepare = kind.OnCreate(func(slice *resourcev1.ResourceSlice) { dropLists(slice, &resourcev1.ResourceSlice{}) })
	d.Strategy.Create.Validate = kind.CheckCreate(validateNewSlice)
	d.Strategy.Create.Warnings = kind.WarnCreate(driverWarnings)
	d.Strategy.Update.Prepare = kind.OnUpdate(dropLists)
	d.Strategy.Update.Validate = kind.CheckUpdate(validateSlice)
	d.Strategy.Update.Warnings = kind.WarnAgain(driverWarnings)
	d.FieldLabel = kind.FieldLabelsElse("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
		"metadata.name", resourcev1.ResourceSliceSelectorNodeName, resourcev1.ResourceSliceSelectorDriver)
	d.Fields = resourceSliceFields
	d.Default = kind.Defaults(defaultSlice)
	d.Columns = registry.Columns{Definitions: resourceSliceColumns(), Row: kind.Row(resourceSliceRow)}
	return d.Build()
}

// dropLists leaves lists of values to slices that have some already: they are
// behind a gate which is off.
func dropLists(slice, old *resourcev1.ResourceSlice) {
	if slices.ContainsFunc(old.Spec.Devices, hasLists) {
		return
	}
	for _, d := range slice.Spec.Devices {
		for name, a := range d.Attributes {
			a.BoolValues, a.IntValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			d.Attributes[name] = a
		}
	}
}

func hasLists(d resourcev1.Device) bool {
	for _, a := range d.Attributes {
		if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
			return true
		}
	}
	return false
}

func driverWarnings(slice *resourcev1.ResourceSlice) []string {
	driver := slice.Spec.Driver
	if driver == strings.ToLower(driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)}
}

func resourceSliceFields(obj runtime.Object) fields.Set {
	spec := &obj.(*resourcev1.ResourceSlice).Spec
	return fields.Set{
		resourcev1.ResourceSliceSelectorNodeName: ptr.Deref(spec.NodeName, ""),
		resourcev1.ResourceSliceSelectorDriver:   spec.Driver,
	}
}

func resourceSliceColumns() []metav1.TableColumnDefinition {
	doc := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Node", "string", doc["nodeName"]),
		kind.Column("Driver", "string", doc["driver"]),
		kind.Column("Pool", "string", poolDescription),
		kind.AgeColumn(),
	}
}

// resourceSliceRow has a cell of null for a slice that belongs to no one node.
func resourceSliceRow(slice *resourcev1.ResourceSlice) []any {
	var node any
	if slice.Spec.NodeName != nil {
		node = *slice.Spec.NodeName
	}
	return []any{slice.Name, node, slice.Spec.Driver, slice.Spec.Pool.Name, kind.Age(slice.CreationTimestamp)}
}
