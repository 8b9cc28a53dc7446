package storage

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newHealth() *storagev1.CSINode {
	return &storagev1.CSINode{Status: storagev1.CSINodeStatus{StorageHealth: []storagev1.StorageHealth{{
		Name:             "csi.example.com",
		HealthConditions: []storagev1.StorageHealthCondition{{Status: storagev1.StorageDegraded, Reason: "Slow"}},
	}}}}
}

func TestNodeStatus(t *testing.T) {
	type node = storagev1.CSINode
	check := registrytest.Rules(t, newHealth, func(n *node) field.ErrorList { return validateNodeStatus(n, nil) })
	condition := func(change func(*storagev1.StorageHealthCondition)) func(*node) {
		return func(n *node) { change(&n.Status.StorageHealth[0].HealthConditions[0]) }
	}
	const at = "status.storageHealth[0].healthConditions[0]."
	check("one report for each driver", func(n *node) { n.Status.StorageHealth = append(n.Status.StorageHealth, n.Status.StorageHealth[0]) },
		`status.storageHealth[1]: Duplicate value: "csi.example.com"`)
	check("drivers have names", func(n *node) { n.Status.StorageHealth[0].Name = "" }, "status.storageHealth[0].name: Required value")
	check("at most 16 conditions", func(n *node) {
		n.Status.StorageHealth[0].HealthConditions = make([]storagev1.StorageHealthCondition, 17)
	}, "status.storageHealth[0].healthConditions: Too many: 17: must have at most 16 items")
	check("states are known", condition(func(c *storagev1.StorageHealthCondition) { c.Status = "Fine" }),
		at+`status: Unsupported value: "Fine": supported values: "StorageDegraded", "StorageUnreachable"`)
	check("a reason is required", condition(func(c *storagev1.StorageHealthCondition) { c.Reason = "" }), at+"reason: Required value")
	check("reasons are short", condition(func(c *storagev1.StorageHealthCondition) { c.Reason = strings.Repeat("a", 257) }),
		at+"reason: Too long: may not be more than 256 bytes")
	check("access modes are known", condition(func(c *storagev1.StorageHealthCondition) { c.AccessMode = new(corev1.PersistentVolumeAccessMode("X")) }),
		at+`accessMode: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`)
}

func TestNodeStatusOfReleases(t *testing.T) {
	for release, want := range map[feature.Release]bool{36: false, 37: true} {
		if _, ok := csiNodes(feature.At(release)).Subresource("status"); ok != want {
			t.Errorf("1.%d has the subresource: %t", release, ok)
		}
	}
	n := newHealth()
	status, _ := csiNodes(feature.Default()).Subresource("status")
	status.Update.Prepare(t.Context(), n, &storagev1.CSINode{})
	if len(n.Status.StorageHealth) > 0 {
		t.Error("a field with a disabled gate is kept")
	}
}
