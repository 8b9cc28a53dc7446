package storage

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func csiDrivers(features *feature.Set) *registry.Resource {
	return kind.Definition[*storagev1.CSIDriver]{
		GroupVersion:        storagev1.SchemeGroupVersion,
		Object:              &storagev1.CSIDriver{},
		List:                &storagev1.CSIDriverList{},
		Resource:            "csidrivers",
		Generation:          true,
		FromZero:            true,
		Default:             defaultCSIDriver(features),
		Restore:             defaultCSIDriver(features),
		ValidateCreate:      validateDriver,
		WarningsOnCreate:    warningsForNewDriver,
		ValidateUpdate:      validateDriverUpdate,
		WarningsOnUpdate:    warningsForChangedDriver,
		ReturnDeletedObject: true,
		GatedFields:         kind.Gated(feature.VolumeLimitScaling, "spec.preventPodSchedulingIfMissing"),
		Columns:             csiDriverColumns(),
	}.Build(features)
}

func csiDriverColumns() []kind.Column[*storagev1.CSIDriver] {
	doc := storagev1.CSIDriverSpec{}.SwaggerDoc()
	return kind.StandardColumns(
		kind.BooleanColumn("AttachRequired", doc["attachRequired"],
			func(driver *storagev1.CSIDriver) any { return ptr.Deref(driver.Spec.AttachRequired, true) }),
		kind.BooleanColumn("PodInfoOnMount", doc["podInfoOnMount"],
			func(driver *storagev1.CSIDriver) any { return ptr.Deref(driver.Spec.PodInfoOnMount, false) }),
		kind.BooleanColumn("StorageCapacity", doc["storageCapacity"],
			func(driver *storagev1.CSIDriver) any { return ptr.Deref(driver.Spec.StorageCapacity, false) }),
		kind.TextColumn("TokenRequests", doc["tokenRequests"],
			func(driver *storagev1.CSIDriver) any { return tokenAudiences(driver.Spec.TokenRequests) }),
		kind.BooleanColumn("RequiresRepublish", doc["requiresRepublish"],
			func(driver *storagev1.CSIDriver) any { return ptr.Deref(driver.Spec.RequiresRepublish, false) }),
		kind.TextColumn("Modes", doc["volumeLifecycleModes"],
			func(driver *storagev1.CSIDriver) any { return modesCell(driver.Spec.VolumeLifecycleModes) }),
	)
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

func modesCell(modes []storagev1.VolumeLifecycleMode) string {
	if len(modes) == 0 {
		return kind.None
	}
	names := make([]string, len(modes))
	for i, mode := range modes {
		names[i] = string(mode)
	}
	return strings.Join(names, ",")
}
