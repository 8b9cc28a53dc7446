package kind_test

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func drivers() kind.Definition[*storagev1.CSIDriver] {
	return kind.Definition[*storagev1.CSIDriver]{
		GroupVersion: storagev1.SchemeGroupVersion,
		Object:       &storagev1.CSIDriver{},
		Resource:     "csidrivers",
		GatedFields:  kind.Gated(feature.VolumeLimitScaling, "spec.preventPodSchedulingIfMissing|tokenRequests"),
		Columns: kind.StandardColumns(
			kind.TextColumn("Gated", "", func(*storagev1.CSIDriver) any { return "" }).If(feature.VolumeLimitScaling),
		),
	}
}

func features(t *testing.T, enabled bool) *feature.Set {
	t.Helper()
	set, err := feature.Config{Gates: map[string]bool{string(feature.VolumeLimitScaling): enabled}}.Set()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestFieldsOfDisabledGatesAreDropped(t *testing.T) {
	without := &storagev1.CSIDriver{}
	with := &storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{
		PreventPodSchedulingIfMissing: new(true), TokenRequests: []storagev1.TokenRequest{{}},
	}}
	has := func(d *storagev1.CSIDriver) bool {
		return d.Spec.PreventPodSchedulingIfMissing != nil || len(d.Spec.TokenRequests) > 0
	}
	for _, tc := range []struct {
		name    string
		enabled bool
		old     *storagev1.CSIDriver // nil for a create
		want    bool
	}{
		{"a create with the gate", true, nil, true},
		{"a create without the gate", false, nil, false},
		{"an update that adds the fields with the gate", true, without, true},
		{"an update that adds the fields without the gate", false, without, false},
		{"an update of an object that has the fields", false, with, true},
	} {
		strategy := drivers().Build(features(t, tc.enabled)).Strategy
		obj := with.DeepCopy()
		if tc.old == nil {
			strategy.Create.Prepare(t.Context(), obj)
		} else {
			strategy.Update.Prepare(t.Context(), obj, tc.old)
		}
		if has(obj) != tc.want {
			t.Errorf("%s: %+v", tc.name, obj.Spec)
		}
	}
}

func TestColumnsOfDisabledGatesAreLeftOut(t *testing.T) {
	for enabled, want := range map[bool]int{true: 3, false: 2} {
		columns := drivers().Build(features(t, enabled)).Columns
		cells, _ := columns.Row(&storagev1.CSIDriver{})
		if len(columns.Definitions) != want || len(cells) != want {
			t.Errorf("gate %t: %d columns and %d cells", enabled, len(columns.Definitions), len(cells))
		}
	}
}

func TestKindsOfDisabledGatesAreNotServed(t *testing.T) {
	d := drivers()
	d.Gate = feature.VolumeLimitScaling
	if d.Build(features(t, true)) == nil {
		t.Error("the kind is not served with its gate")
	}
	if d.Build(features(t, false)) != nil {
		t.Error("the kind is served without its gate")
	}
}
