package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes returns the names of the volumes that can be mounted too.
func validateVolumes(volumes []corev1.Volume, at *field.Path) (sets.Set[string], field.ErrorList) {
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range volumes {
		v, at := &volumes[i], at.Index(i)
		faults := validateVolumeSource(&v.VolumeSource, at)
		faults = append(faults, dnsLabel(v.Name, at.Child("name"))...)
		if names.Has(v.Name) {
			faults = append(faults, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(faults) == 0 {
			names.Insert(v.Name)
		}
		errs = append(errs, faults...)
	}
	return names, errs
}

// validateVolumeSource wants one source, and looks no further than at the
// first. A volume without one has been defaulted to an empty directory.
func validateVolumeSource(v *corev1.VolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for _, source := range volumeSources(v) {
		switch {
		case !source.set:
		case found:
			errs = append(errs, field.Forbidden(at.Child(source.name), "may not specify more than 1 volume type"))
		default:
			found = true
			if source.required != nil && *source.required == "" {
				errs = append(errs, field.Required(at.Child(source.name, source.field), ""))
			}
		}
	}
	return errs
}

// volumeSource is a source by its name, with one field that it cannot do
// without.
type volumeSource struct {
	name     string
	set      bool
	field    string
	required *string
}

// volumeSources are in the order in which kube-apiserver looks for them, under
// the names that its messages have for them.
func volumeSources(v *corev1.VolumeSource) []volumeSource {
	list := []volumeSource{
		{name: "emptyDir", set: v.EmptyDir != nil},
		{name: "hostPath", set: v.HostPath != nil},
		{name: "gitRepo", set: v.GitRepo != nil},
		{name: "gcePersistentDisk", set: v.GCEPersistentDisk != nil},
		{name: "awsElasticBlockStore", set: v.AWSElasticBlockStore != nil},
		{name: "secret", set: v.Secret != nil},
		{name: "nfs", set: v.NFS != nil},
		{name: "iscsi", set: v.ISCSI != nil},
		{name: "glusterfs", set: v.Glusterfs != nil},
		{name: "flocker", set: v.Flocker != nil},
		{name: "persistentVolumeClaim", set: v.PersistentVolumeClaim != nil},
		{name: "rbd", set: v.RBD != nil},
		{name: "cinder", set: v.Cinder != nil},
		{name: "cephFS", set: v.CephFS != nil},
		{name: "fc", set: v.FC != nil},
		{name: "downwarAPI", set: v.DownwardAPI != nil},
		{name: "configMap", set: v.ConfigMap != nil},
		{name: "azureFile", set: v.AzureFile != nil},
		{name: "flexVolume", set: v.FlexVolume != nil},
		{name: "vsphereVolume", set: v.VsphereVolume != nil},
		{name: "quobyte", set: v.Quobyte != nil},
		{name: "photonPersistentDisk", set: v.PhotonPersistentDisk != nil},
		{name: "portworxVolume", set: v.PortworxVolume != nil},
		{name: "azureDisk", set: v.AzureDisk != nil},
		{name: "storageos", set: v.StorageOS != nil},
		{name: "projected", set: v.Projected != nil},
		{name: "scaleIO", set: v.ScaleIO != nil},
		{name: "csi", set: v.CSI != nil},
		{name: "ephemeral", set: v.Ephemeral != nil},
		{name: "image", set: v.Image != nil},
	}
	need := func(name, field string, value *string) {
		for i := range list {
			if list[i].name == name {
				list[i].field, list[i].required = field, value
			}
		}
	}
	if v.HostPath != nil {
		need("hostPath", "path", &v.HostPath.Path)
	}
	if v.Secret != nil {
		need("secret", "secretName", &v.Secret.SecretName)
	}
	if v.PersistentVolumeClaim != nil {
		need("persistentVolumeClaim", "claimName", &v.PersistentVolumeClaim.ClaimName)
	}
	if v.ConfigMap != nil {
		need("configMap", "name", &v.ConfigMap.Name)
	}
	return list
}
