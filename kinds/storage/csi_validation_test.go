package storage

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestCSIDrivers(t *testing.T) {
	type driver = storagev1.CSIDriver
	valid := func() *driver { return &driver{Spec: storagev1.CSIDriverSpec{AttachRequired: new(true)}} }
	check := registrytest.Rules(t, valid, validateDriver)
	tokens := func(tokens ...storagev1.TokenRequest) func(*driver) {
		return func(d *driver) { d.Spec.TokenRequests = tokens }
	}
	check("token requests of different audiences", tokens(storagev1.TokenRequest{Audience: "a"}, storagev1.TokenRequest{Audience: "b"}))
	check("audiences are unique", tokens(storagev1.TokenRequest{Audience: "a"}, storagev1.TokenRequest{Audience: "a"}),
		`spec.tokenRequests[1].audience: Duplicate value: "a"`)
	check("tokens last ten minutes or more", tokens(storagev1.TokenRequest{ExpirationSeconds: new(int64(599))}),
		"spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes")
	check("serviceAccountTokenInSecrets needs token requests", func(d *driver) { d.Spec.ServiceAccountTokenInSecrets = new(true) },
		"spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	check("lifecycle modes are known", func(d *driver) { d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{"Persistent", "x"} },
		`spec.volumeLifecycleModes: Unsupported value: "x": supported values: "Persistent", "Ephemeral"`)
	check("group policies are known", func(d *driver) { d.Spec.FSGroupPolicy = new(storagev1.FSGroupPolicy("x")) },
		`spec.fsGroupPolicy: Unsupported value: "x": supported values: "File", "None", "ReadWriteOnceWithFSType"`)
	registrytest.Rules(t, valid, func(d *driver) field.ErrorList { return validateDriverUpdate(d, valid()) })(
		"attaching stays as it is", func(d *driver) { d.Spec.AttachRequired = new(false) },
		"spec.attachedRequired: Invalid value: false: field is immutable")
}

func TestGenerationOfDriversCountsChanges(t *testing.T) {
	e := registrytest.New(t, nil, csiDrivers(feature.Default()))
	driver := e.Create("csidrivers.storage.k8s.io", &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "d"}})
	if n := registrytest.Meta(driver).GetGeneration(); n != 0 {
		t.Errorf("a new driver is of generation %d, want 0", n)
	}
}

func TestCSINodes(t *testing.T) {
	type node = storagev1.CSINode
	valid := func() *node {
		return &node{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d", NodeID: "n", TopologyKeys: []string{"zone"}}}}}
	}
	const at = "spec.drivers[0]"
	check := registrytest.Rules(t, valid, validateNode)
	check("a driver has a name and a node ID", func(n *node) { n.Spec.Drivers[0] = storagev1.CSINodeDriver{} },
		at+".name: Required value", at+".nodeID: Required value")
	check("driver names are unique", func(n *node) { n.Spec.Drivers = append(n.Spec.Drivers, n.Spec.Drivers[0]) },
		`spec.drivers[1].name: Duplicate value: "d"`)
	check("topology keys are unique", func(n *node) { n.Spec.Drivers[0].TopologyKeys = []string{"zone", "zone"} },
		at+`: Duplicate value: "zone"`)
	check("the count is not negative", func(n *node) { n.Spec.Drivers[0].Allocatable = &storagev1.VolumeNodeResources{Count: new(int32(-1))} },
		at+".allocatable.count: Invalid value: -1: must be greater than or equal to 0")
	update := registrytest.Rules(t, valid, func(n *node) field.ErrorList { return validateNodeUpdate(n, valid()) })
	update("it may go", func(n *node) { n.Spec.Drivers = nil })
	update("or hold more", func(n *node) { n.Spec.Drivers[0].Allocatable = &storagev1.VolumeNodeResources{Count: new(int32(3))} })
	update("not change", func(n *node) { n.Spec.Drivers[0].NodeID = "m" },
		`spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":["zone"],"Allocatable":null}: field is immutable`)
}

func TestCSIStorageCapacities(t *testing.T) {
	type capacity = storagev1.CSIStorageCapacity
	valid := func() *capacity { return &capacity{StorageClassName: "c", NodeTopology: &metav1.LabelSelector{}} }
	registrytest.Rules(t, valid, validateCapacity)("a capacity is one", func(c *capacity) { c.Capacity = new(resource.MustParse("-1")) },
		`capacity: Invalid value: "-1": must be greater than or equal to 0`)
	registrytest.Rules(t, valid, func(c *capacity) field.ErrorList { return validateCapacityUpdate(c, valid()) })(
		"of a class", func(c *capacity) { c.StorageClassName = "d" }, `storageClassName: Invalid value: "d": field is immutable`)
}

func TestVolumeAttachments(t *testing.T) {
	type attachment = storagev1.VolumeAttachment
	valid := func() *attachment {
		return &attachment{Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "exam.org", NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("v")},
		}}
	}
	check := registrytest.Rules(t, valid, validateAttachment)
	check("attacher is required", func(a *attachment) { a.Spec.Attacher = "" }, "spec.attacher: Required value")
	check("attacher is short", func(a *attachment) { a.Spec.Attacher = strings.Repeat("X", 64) },
		"spec.attacher: Too long: may not be more than 63 characters")
	check("attacher is a DNS subdomain", func(a *attachment) { a.Spec.Attacher = "a,b" },
		`spec.attacher: Invalid value: "a,b": an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must `+
			`start and end with an alphanumeric character (e.g. 'Example.com', `+
			`regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
	check("source is required", func(a *attachment) { a.Spec.Source.PersistentVolumeName = nil },
		"spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	check("the volume name is required", func(a *attachment) { a.Spec.Source.PersistentVolumeName = new("") },
		"spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
		`spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', `+
			`and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is `+
			`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)
	check("error messages have a maximum length", func(a *attachment) {
		a.Status.AttachError = &storagev1.VolumeError{Message: strings.Repeat("x", longestError+1), ErrorCode: new(int32(-1))}
	},
		"status.attachError.message: Too long: may not be more than 1024 bytes",
		"status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive")
	inline := func(volume corev1.PersistentVolumeSpec) func(*attachment) {
		return func(a *attachment) { a.Spec.Source = storagev1.VolumeAttachmentSource{InlineVolumeSpec: &volume} }
	}
	const at = "spec.source.inlineVolumeSpec"
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	check("an inline volume has a CSI source", inline(corev1.PersistentVolumeSpec{}),
		at+".csi: Required value: has to be specified in the context of inline volumes",
		at+".accessModes: Required value", at+": Required value: must specify a volume type")
	csi := corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}}
	check("an inline volume", inline(corev1.PersistentVolumeSpec{AccessModes: modes, PersistentVolumeSource: csi}))
	check("an inline volume is the only source", func(a *attachment) {
		a.Spec.Source.InlineVolumeSpec = &corev1.PersistentVolumeSpec{}
	}, "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	check("an inline volume has no claim", inline(corev1.PersistentVolumeSpec{
		AccessModes: modes, PersistentVolumeSource: csi, ClaimRef: &corev1.ObjectReference{}, StorageClassName: "c",
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
	}),
		at+".claimRef: Forbidden: may not be specified in the context of inline volumes",
		at+".storageClassName: Forbidden: may not be specified in the context of inline volumes",
		at+".persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes")
	if got := registrytest.Texts(attachmentUpdateValidation(feature.Default())(valid(), &attachment{})); len(got) != 1 || !strings.HasSuffix(got[0], "field is immutable") {
		t.Errorf("another spec: %q", got)
	}
}
