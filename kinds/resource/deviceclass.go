package resource

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func deviceClasses(features *feature.Set) *registry.Resource {
	d := definition("deviceclasses", &resourcev1.DeviceClass{}, &resourcev1.DeviceClassList{})
	d.Generation = true
	d.ValidateName = kind.NamedByTag
	d.ValidateCreate = validateNewClass
	d.ValidateUpdate = validateClassUpdate
	d.GatedFields = kind.Gated(feature.DRAExtendedResource, "spec.extendedResourceName")
	d.Columns = kind.StandardColumns[*resourcev1.DeviceClass]()
	return d.Build(features)
}
