package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// fileMode is that of files projected into a volume.
const fileMode = 0o644

// defaultVolume fills in the volume of a pod; one without a source is an empty
// directory.
func defaultVolume(v *corev1.VolumeSource) {
	if *v == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	defaultFiles(v)
	defaultHostPath(v.HostPath)
	defaultAzureDisk(v.AzureDisk)
	if v.ISCSI != nil {
		kind.Fill(&v.ISCSI.ISCSIInterface, iscsiInterface)
	}
	if v.RBD != nil {
		defaultRBD(&v.RBD.RBDPool, &v.RBD.RadosUser, &v.RBD.Keyring)
	}
	if v.ScaleIO != nil {
		defaultScaleIO(&v.ScaleIO.StorageMode, &v.ScaleIO.FSType)
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		defaultClaimSpec(&v.Ephemeral.VolumeClaimTemplate.Spec)
	}
	if v.Image != nil && v.Image.PullPolicy == "" {
		v.Image.PullPolicy = pullPolicy(v.Image.Reference)
	}
}

// defaultFiles fills in the volumes whose files the API holds.
func defaultFiles(v *corev1.VolumeSource) {
	if v.Secret != nil {
		kind.FillNil(&v.Secret.DefaultMode, fileMode)
	}
	if v.ConfigMap != nil {
		kind.FillNil(&v.ConfigMap.DefaultMode, fileMode)
	}
	if v.DownwardAPI != nil {
		kind.FillNil(&v.DownwardAPI.DefaultMode, fileMode)
		defaultDownwardFiles(v.DownwardAPI.Items)
	}
	if v.Projected == nil {
		return
	}
	kind.FillNil(&v.Projected.DefaultMode, fileMode)
	for i := range v.Projected.Sources {
		source := &v.Projected.Sources[i]
		if source.DownwardAPI != nil {
			defaultDownwardFiles(source.DownwardAPI.Items)
		}
		if source.ServiceAccountToken != nil {
			kind.FillNil(&source.ServiceAccountToken.ExpirationSeconds, 60*60)
		}
	}
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		defaultFieldRef(files[i].FieldRef)
	}
}

// DefaultVolumeSpec fills in the spec of a persistent volume.
func DefaultVolumeSpec(v *corev1.PersistentVolumeSpec) {
	RoundUp(v.Capacity)
	defaultHostPath(v.HostPath)
	defaultAzureDisk(v.AzureDisk)
	if v.ISCSI != nil {
		kind.Fill(&v.ISCSI.ISCSIInterface, iscsiInterface)
	}
	if v.RBD != nil {
		defaultRBD(&v.RBD.RBDPool, &v.RBD.RadosUser, &v.RBD.Keyring)
	}
	if v.ScaleIO != nil {
		defaultScaleIO(&v.ScaleIO.StorageMode, &v.ScaleIO.FSType)
	}
}

// DefaultClaim fills in a claim, which may be a template of one.
func DefaultClaim(c *corev1.PersistentVolumeClaim) {
	kind.Fill(&c.Status.Phase, corev1.ClaimPending)
	defaultClaimSpec(&c.Spec)
	RoundUp(c.Status.Capacity)
	RoundUp(c.Status.AllocatedResources)
}

func defaultClaimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	kind.FillNil(&spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	RoundUp(spec.Resources.Limits)
	RoundUp(spec.Resources.Requests)
}

const iscsiInterface = "default"

func defaultHostPath(v *corev1.HostPathVolumeSource) {
	if v != nil {
		kind.FillNil(&v.Type, corev1.HostPathUnset)
	}
}

func defaultAzureDisk(v *corev1.AzureDiskVolumeSource) {
	if v == nil {
		return
	}
	kind.FillNil(&v.CachingMode, corev1.AzureDataDiskCachingReadWrite)
	kind.FillNil(&v.Kind, corev1.AzureSharedBlobDisk)
	kind.FillNil(&v.FSType, "ext4")
	kind.FillNil(&v.ReadOnly, false)
}

func defaultRBD(pool, user, keyring *string) {
	kind.Fill(pool, "rbd")
	kind.Fill(user, "admin")
	kind.Fill(keyring, "/etc/ceph/keyring")
}

func defaultScaleIO(mode, fsType *string) {
	kind.Fill(mode, "ThinProvisioned")
	kind.Fill(fsType, "xfs")
}
