package resource

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func deviceClasses() *registry.Resource {
	d := definition("deviceclasses", &resourcev1.DeviceClass{}, &resourcev1.DeviceClassList{})
	d.Generation = true
	d.Strategy.Create.Validate = kind.CheckCreate(validateNewClass)
	d.Strategy.Update.Validate = kind.CheckUpdate(validateClassUpdate)
	d.Columns = registry.Columns{Definitions: nameAndAge(), Row: kind.Row(deviceClassRow)}
	return d.Build()
}

func deviceClassRow(class *resourcev1.DeviceClass) []any {
	return []any{class.Name, kind.Age(class.CreationTimestamp)}
}
