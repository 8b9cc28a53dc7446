package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// fileMode is the default mode of files in a volume.
const fileMode = 0o644

// defaultVolume sets the defaults of a volume. A volume without a source becomes an empty
// directory.
func defaultVolume(v *corev1.VolumeSource) {
	if *v == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	defaultFiles(v)
	defaultHostPath(v.HostPath)
	defaultAzureDisk(v.AzureDisk)
	if v.ISCSI != nil {
		kind.SetDefault(&v.ISCSI.ISCSIInterface, iscsiInterface)
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

// defaultFiles sets the defaults of volumes whose files are objects of the API.
func defaultFiles(v *corev1.VolumeSource) {
	if v.Secret != nil {
		kind.SetDefaultPointer(&v.Secret.DefaultMode, fileMode)
	}
	if v.ConfigMap != nil {
		kind.SetDefaultPointer(&v.ConfigMap.DefaultMode, fileMode)
	}
	if v.DownwardAPI != nil {
		kind.SetDefaultPointer(&v.DownwardAPI.DefaultMode, fileMode)
		defaultDownwardFiles(v.DownwardAPI.Items)
	}
	if v.Projected == nil {
		return
	}
	kind.SetDefaultPointer(&v.Projected.DefaultMode, fileMode)
	for i := range v.Projected.Sources {
		source := &v.Projected.Sources[i]
		if source.DownwardAPI != nil {
			defaultDownwardFiles(source.DownwardAPI.Items)
		}
		if source.ServiceAccountToken != nil {
			kind.SetDefaultPointer(&source.ServiceAccountToken.ExpirationSeconds, 60*60)
		}
	}
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		defaultFieldRef(files[i].FieldRef)
	}
}

// DefaultVolumeSpec sets the defaults of the spec of a persistent volume.
func DefaultVolumeSpec(v *corev1.PersistentVolumeSpec) {
	RoundUp(v.Capacity)
	defaultHostPath(v.HostPath)
	defaultAzureDisk(v.AzureDisk)
	if v.ISCSI != nil {
		kind.SetDefault(&v.ISCSI.ISCSIInterface, iscsiInterface)
	}
	if v.RBD != nil {
		defaultRBD(&v.RBD.RBDPool, &v.RBD.RadosUser, &v.RBD.Keyring)
	}
	if v.ScaleIO != nil {
		defaultScaleIO(&v.ScaleIO.StorageMode, &v.ScaleIO.FSType)
	}
}

// DefaultClaim sets the defaults of a claim, or of a template of one.
func DefaultClaim(c *corev1.PersistentVolumeClaim) {
	kind.SetDefault(&c.Status.Phase, corev1.ClaimPending)
	defaultClaimSpec(&c.Spec)
	RoundUp(c.Status.Capacity)
	RoundUp(c.Status.AllocatedResources)
}

func defaultClaimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	kind.SetDefaultPointer(&spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	RoundUp(spec.Resources.Limits)
	RoundUp(spec.Resources.Requests)
}

const iscsiInterface = "default"

func defaultHostPath(v *corev1.HostPathVolumeSource) {
	if v != nil {
		kind.SetDefaultPointer(&v.Type, corev1.HostPathUnset)
	}
}

func defaultAzureDisk(v *corev1.AzureDiskVolumeSource) {
	if v == nil {
		return
	}
	kind.SetDefaultPointer(&v.CachingMode, corev1.AzureDataDiskCachingReadWrite)
	kind.SetDefaultPointer(&v.Kind, corev1.AzureSharedBlobDisk)
	kind.SetDefaultPointer(&v.FSType, "ext4")
	kind.SetDefaultPointer(&v.ReadOnly, false)
}

func defaultRBD(pool, user, keyring *string) {
	kind.SetDefault(pool, "rbd")
	kind.SetDefault(user, "admin")
	kind.SetDefault(keyring, "/etc/ceph/keyring")
}

func defaultScaleIO(mode, fsType *string) {
	kind.SetDefault(mode, "ThinProvisioned")
	kind.SetDefault(fsType, "xfs")
}
