package storage

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func csiDrivers() *registry.Resource {
	return kind.Definition{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.CSIDriver{},
		List:         &storagev1.CSIDriverList{},
		Resource:     "csidrivers",
		Finalizers:   kind.Finalizers,
		Generation:   true,
		FromZero:     true,
		Default:      kind.Defaults(defaultCSIDriver),
		Restore:      kind.Defaults(defaultCSIDriver),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  kind.OnCreate(func(d *storagev1.CSIDriver) { dropScheduling(d, &storagev1.CSIDriver{}) }),
				Validate: kind.CheckCreate(validateDriver),
				Warnings: kind.WarnCreate(warnOfNewDriver),
			},
			Update: registry.UpdateStrategy{
				Prepare:  kind.OnUpdate(dropScheduling),
				Validate: kind.CheckUpdate(validateDriverUpdate),
				Warnings: kind.WarnUpdate(warnOfChangedDriver),
			},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		Columns: registry.Columns{Definitions: csiDriverColumns(), Row: kind.Row(csiDriverRow)},
	}.Build()
}

// dropScheduling leaves a field to those that have it already: it is behind a
// gate which is off.
func dropScheduling(d, old *storagev1.CSIDriver) {
	if old.Spec.PreventPodSchedulingIfMissing == nil {
		d.Spec.PreventPodSchedulingIfMissing = nil
	}
}

func csiDriverColumns() []metav1.TableColumnDefinition {
	doc := storagev1.CSIDriverSpec{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("AttachRequired", "boolean", doc["attachRequired"]),
		kind.Column("PodInfoOnMount", "boolean", doc["podInfoOnMount"]),
		kind.Column("StorageCapacity", "boolean", doc["storageCapacity"]),
		kind.Column("TokenRequests", "string", doc["tokenRequests"]),
		kind.Column("RequiresRepublish", "boolean", doc["requiresRepublish"]),
		kind.Column("Modes", "string", doc["volumeLifecycleModes"]),
		kind.AgeColumn(),
	}
}

func csiDriverRow(driver *storagev1.CSIDriver) []any {
	spec := &driver.Spec
	modes := "<none>"
	if len(spec.VolumeLifecycleModes) > 0 {
		names := make([]string, len(spec.VolumeLifecycleModes))
		for i, mode := range spec.VolumeLifecycleModes {
			names[i] = string(mode)
		}
		modes = strings.Join(names, ",")
	}
	return []any{
		driver.Name,
		ptr.Deref(spec.AttachRequired, true),
		ptr.Deref(spec.PodInfoOnMount, false),
		ptr.Deref(spec.StorageCapacity, false),
		tokenAudiences(spec.TokenRequests),
		ptr.Deref(spec.RequiresRepublish, false),
		modes,
		kind.Age(driver.CreationTimestamp),
	}
}

func tokenAudiences(requests []storagev1.TokenRequest) string {
	if requests == nil {
		return "<unset>"
	}
	audiences := make([]string, len(requests))
	for i, request := range requests {
		audiences[i] = request.Audience
	}
	return strings.Join(audiences, ",")
}
