package kinds_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// ungatedFields are fields with the marker +featureGate that writes keep, by the reason.
var ungatedFields = map[string][]string{
	"kube-apiserver keeps the field": {
		"v1.ContainerStatus.StopSignal",
		"v1.AllocationResult.AllocationTimestamp",
		"v1.DeviceRequestAllocationResult.Tolerations",
	},
	"the claims of templates keep the field in kube-apiserver": {
		"StatefulSet spec.volumeClaimTemplates.",
		"volumes.ephemeral.volumeClaimTemplate.",
	},
	"dataSourceRef is dropped as a whole, see TestSourcesInOtherNamespaces": {
		"v1.TypedObjectReference.Namespace",
	},
}

// TestFieldsOfDisabledGatesAreDropped compares the strategies of all kinds with the markers
// +featureGate in the published API types: a field is dropped while one of its gates is disabled,
// unless the stored object has it.
func TestFieldsOfDisabledGatesAreDropped(t *testing.T) {
	markers := readMarkers(t)
	listed := map[string]bool{}
	checked := 0
	for _, release := range []string{"1.36", "1.37"} {
		for gate := range markers.gates() {
			features, ok := without(release, gate)
			if !ok {
				continue // locked
			}
			for _, res := range storedKinds(features) {
				for _, f := range markedFields(reflect.TypeOf(newObject(res)), gate, markers) {
					checked++
					at := res.Kind + " " + strings.Join(f.names, ".")
					if reason := ungated(at, f.field, listed); reason != "" {
						continue
					}
					if err := checkDropped(t, res, f); err != nil {
						t.Errorf("%s, %s disabled: %s: %v", release, gate, at, err)
					}
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d fields were checked", checked)
	}
	for reason, list := range ungatedFields {
		for _, name := range list {
			if !listed[name] {
				t.Errorf("%s (%s) is not needed", name, reason)
			}
		}
	}
}

func ungated(at, field string, listed map[string]bool) string {
	for reason, list := range ungatedFields {
		for _, name := range list {
			if name == field || strings.Contains(at, name) {
				listed[name] = true
				return reason
			}
		}
	}
	return ""
}

// checkDropped writes an object with only the field, to a strategy that takes its part of the
// object from the client.
func checkDropped(t *testing.T, res *registry.Resource, f markedField) error {
	prepare := res.Strategy.Update.Prepare
	if status, ok := res.Subresource("status"); ok && f.names[0] == "status" {
		prepare = status.Update.Prepare
	}
	with := func() runtime.Object {
		obj := newObject(res)
		f.set(reflect.ValueOf(obj))
		return obj
	}
	obj := with()
	prepare(t.Context(), obj, newObject(res))
	if f.isSet(reflect.ValueOf(obj)) {
		return fmt.Errorf("an update adds it")
	}
	obj = with()
	prepare(t.Context(), obj, with())
	if !f.isSet(reflect.ValueOf(obj)) {
		return fmt.Errorf("an update of an object that has it drops it")
	}
	obj = with()
	res.Strategy.Create.Prepare(t.Context(), obj)
	if f.isSet(reflect.ValueOf(obj)) {
		return fmt.Errorf("a create stores it")
	}
	return nil
}

// storedKinds returns the stored resources with a built-in hub. Events of the group events have the
// hub of the core group.
func storedKinds(features *feature.Set) []*registry.Resource {
	return slices.DeleteFunc(slices.Clone(kinds.Resources(features)), func(r *registry.Resource) bool {
		return r.Virtual != nil || r.Group == "events.k8s.io"
	})
}

func newObject(res *registry.Resource) runtime.Object {
	for _, v := range res.Versions {
		if v.ToHub == nil {
			return v.New()
		}
	}
	panic("no hub: " + res.Name)
}

func TestSourcesInOtherNamespaces(t *testing.T) {
	claims := func(enabled bool) registry.Strategy {
		features, err := feature.Config{Gates: map[string]bool{"CrossNamespaceVolumeDataSource": enabled}}.Set()
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range kinds.Resources(features) {
			if res.Name == "persistentvolumeclaims" {
				return res.Strategy
			}
		}
		panic("no claims")
	}
	foreign := func() *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			DataSourceRef: &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "a", Namespace: new("b")},
		}}
	}
	for enabled, want := range map[bool]bool{false: false, true: true} {
		claim := foreign()
		claims(enabled).Create.Prepare(t.Context(), claim)
		if got := claim.Spec.DataSourceRef != nil; got != want {
			t.Errorf("gate %t: a create stores the source: %t", enabled, got)
		}
		claim = foreign()
		claims(enabled).Update.Prepare(t.Context(), claim, foreign())
		if claim.Spec.DataSourceRef == nil {
			t.Errorf("gate %t: an update drops the source of the stored claim", enabled)
		}
	}
}
