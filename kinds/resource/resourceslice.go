package resource

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func resourceSlices(features *feature.Set) *registry.Resource {
	d := definition("resourceslices", &resourcev1.ResourceSlice{}, &resourcev1.ResourceSliceList{})
	d.Generation = true
	d.Warnings = driverWarnings
	d.GatedFields = gatedSliceFields
	d.ValidateCreate = validateNewSlice
	d.ValidateUpdate = validateSlice
	d.FieldLabel = kind.FieldLabelsElse("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
		sliceFields(features)...)
	d.Fields = resourceSliceFields
	d.DefaultTimes = defaultTaintTimes
	d.Columns = resourceSliceColumns(features)
	return d.Build(features)
}

func gatedSliceFields() []kind.GatedField {
	return []kind.GatedField{
		{Gate: feature.DRADeviceTaints, Paths: []string{"spec.devices.taints"}},
		{Gate: feature.DRAPartitionableDevices, Paths: []string{
			"spec.sharedCounters|perDeviceNodeSelection", "spec.devices.consumesCounters|nodeName|nodeSelector|allNodes",
		}},
		{Gate: feature.DRAPartitionableDevicesType, Paths: []string{"spec.partitionTypeAttribute"}},
		{Gate: feature.DRADeviceBindingConditions, Paths: []string{"spec.devices." + bindingFields + "|bindsToNode"}},
		{Gate: feature.DRAResourceClaimDeviceStatus, Paths: []string{"spec.devices." + bindingFields + "|bindsToNode"}},
		{Gate: feature.DRAConsumableCapacity, Paths: []string{
			"spec.devices.allowMultipleAllocations", "spec.devices.capacity.requestPolicy",
		}},
		{Gate: feature.DRADeviceCompatibilityGroups, Paths: []string{"spec.devices.consumesCounters.compatibilityGroups"}},
		{Gate: feature.DRANodeAllocatableResources, Paths: []string{"spec.devices.nodeAllocatableResources"}},
		{Gate: feature.DRAListTypeAttributes, Paths: []string{"spec.devices.attributes.bools|ints|strings|versions"}},
		{Gate: feature.DRAOptionalNodeOperations, Paths: []string{"spec.skipNodeOperations"}},
	}
}

// bindingFields are the fields that an allocation copies from its device.
const bindingFields = "bindingConditions|bindingFailureConditions"

func driverWarnings(slice *resourcev1.ResourceSlice) []string {
	driver := slice.Spec.Driver
	if driver == strings.ToLower(driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)}
}

// poolDoc returns the description of the column Pool.
func poolDoc(features *feature.Set) string {
	doc := kind.FieldDoc(features, resourcev1.ResourcePool{}.SwaggerDoc()["name"], "name", "Name")
	if !features.Enabled(feature.PoolNameSelector) {
		doc = strings.Replace(doc, " A field selector can be used to list only ResourceSlice objects belonging to a certain pool.", "", 1)
	}
	return doc
}

// sliceFields returns the labels of field selectors.
func sliceFields(features *feature.Set) []string {
	labels := []string{"metadata.name", resourcev1.ResourceSliceSelectorNodeName, resourcev1.ResourceSliceSelectorDriver}
	if features.Enabled(feature.PoolNameSelector) {
		labels = append(labels, resourcev1.ResourceSliceSelectorPoolName)
	}
	return labels
}

func resourceSliceFields(slice *resourcev1.ResourceSlice) fields.Set {
	spec := &slice.Spec
	return fields.Set{
		resourcev1.ResourceSliceSelectorNodeName: ptr.Deref(spec.NodeName, ""),
		resourcev1.ResourceSliceSelectorDriver:   spec.Driver,
		resourcev1.ResourceSliceSelectorPoolName: spec.Pool.Name,
	}
}

func resourceSliceColumns(features *feature.Set) []kind.Column[*resourcev1.ResourceSlice] {
	doc := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return kind.StandardColumns(
		kind.TextColumn("Node", doc["nodeName"], nodeCell),
		kind.TextColumn("Driver", doc["driver"], func(slice *resourcev1.ResourceSlice) any { return slice.Spec.Driver }),
		kind.TextColumn("Pool", poolDoc(features), func(slice *resourcev1.ResourceSlice) any { return slice.Spec.Pool.Name }),
	)
}

// nodeCell is null for a slice that does not belong to a single node.
func nodeCell(slice *resourcev1.ResourceSlice) any {
	if slice.Spec.NodeName == nil {
		return nil
	}
	return *slice.Spec.NodeName
}
