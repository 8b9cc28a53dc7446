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

func newStorageClass() *storagev1.StorageClass {
	c := &storagev1.StorageClass{Provisioner: "exam.org/disk"}
	defaultStorageClass(c)
	return c
}

func TestStorageClasses(t *testing.T) {
	type class = storagev1.StorageClass
	check := registrytest.Rules(t, newStorageClass, validateStorageClass)
	topology := func(values ...string) corev1.TopologySelectorTerm {
		return corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: values}}}
	}
	topologies := func(terms ...corev1.TopologySelectorTerm) func(*class) {
		return func(c *class) { c.AllowedTopologies = terms }
	}
	check("reclaim policies are known", func(c *class) { c.ReclaimPolicy = new(corev1.PersistentVolumeReclaimRecycle) },
		`reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"`)
	check("binding modes are known", func(c *class) { c.VolumeBindingMode = new(storagev1.VolumeBindingMode("x")) },
		`volumeBindingMode: Unsupported value: "x": supported values: "Immediate", "WaitForFirstConsumer"`)
	check("parameter names are required", func(c *class) { c.Parameters = map[string]string{"": ""} },
		`parameters: Invalid value: "": field can not be empty.`)
	check("parameters have a maximum size", func(c *class) { c.Parameters = map[string]string{"a": strings.Repeat("b", longestParameters)} },
		"parameters: Too long: may not be more than 262144 bytes")
	check("two topologies", topologies(topology("a"), topology("b")))
	check("topologies are unique", topologies(topology("a"), topology("a")), `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`)
	check("topology values are required", topologies(topology()), "allowedTopologies[0].matchLabelExpressions[0].values: Required value")
}

func TestStorageClassUpdates(t *testing.T) {
	type class = storagev1.StorageClass
	check := registrytest.Rules(t, newStorageClass, func(c *class) field.ErrorList {
		return validateStorageClassUpdate(c, newStorageClass(), feature.Default())
	})
	check("labels are mutable", func(c *class) { c.Labels = map[string]string{"a": "b"} })
	check("provisioner, parameters and policies are immutable", func(c *class) {
		c.Parameters, c.Provisioner, c.VolumeBindingMode = map[string]string{"a": "b"}, "", new(storagev1.VolumeBindingWaitForFirstConsumer)
	},
		`provisioner: Required value`,
		`provisioner: Invalid value: null: field is immutable`,
		`parameters: Invalid value: null: field is immutable`,
		`volumeBindingMode: Invalid value: null: field is immutable`)
}

func TestVolumeAttributesClasses(t *testing.T) {
	type class = storagev1.VolumeAttributesClass
	valid := func() *class { return &class{DriverName: "d", Parameters: map[string]string{"iops": "1"}} }
	registrytest.Rules(t, valid, validateAttributesClass)("a driver and attributes are needed", func(c *class) { *c = class{} },
		"driverName: Required value", "parameters: Required value: must contain at least one key/value pair")
	registrytest.Rules(t, valid, func(c *class) field.ErrorList { return validateAttributesClassUpdate(c, valid()) })(
		"and stay", func(c *class) { c.DriverName, c.Parameters = "e", map[string]string{"iops": "2"} },
		"driverName: Forbidden: updates to driverName are forbidden.", "parameters: Forbidden: updates to parameters are forbidden.")
}
