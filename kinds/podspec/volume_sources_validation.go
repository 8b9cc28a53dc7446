package podspec

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// Volumes on the node, on the network and of providers. Most of the latter remain for old objects
// only.

func validateHostPath(h *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if h.Path == "" {
		return field.ErrorList{field.Required(at.Child("path"), "")}
	}
	errs := validateNoBacksteps(h.Path, at.Child("path"))
	if h.Type == nil {
		return errs
	}
	return append(errs, kind.Supported(at.Child("type"), *h.Type, corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev,
		corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)...)
}

func validateGitRepo(g *corev1.GitRepoVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("repository"), g.Repository)
	return append(errs, validateDescending(g.Directory, at.Child("directory"))...)
}

func validateNFS(n *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("server"), n.Server)
	errs = append(errs, kind.Required(at.Child("path"), n.Path)...)
	if !strings.HasPrefix(n.Path, "/") {
		errs = append(errs, field.Invalid(at.Child("path"), n.Path, "must be an absolute path"))
	}
	return errs
}

func validateFC(f *corev1.FCVolumeSource, at *field.Path) field.ErrorList {
	names := at.Child("targetWWNs")
	switch {
	case len(f.TargetWWNs)+len(f.WWIDs) == 0:
		return field.ErrorList{field.Required(names, "must specify either targetWWNs or wwids, but not both")}
	case len(f.TargetWWNs) == 0:
		return nil
	}
	var errs field.ErrorList
	if len(f.WWIDs) > 0 {
		errs = append(errs, field.Invalid(names, f.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	if f.Lun == nil {
		return append(errs, field.Required(at.Child("lun"), "lun is required if targetWWNs is specified"))
	}
	return append(errs, validateLUN(*f.Lun, at.Child("lun"))...)
}

func validateGCEDisk(d *corev1.GCEPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("pdName"), d.PDName)
	return append(errs, validatePartition(d.Partition, at.Child("partition"))...)
}

func validateAWSDisk(d *corev1.AWSElasticBlockStoreVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("volumeID"), d.VolumeID)
	return append(errs, validatePartition(d.Partition, at.Child("partition"))...)
}

// validatePartition accepts 0, which means none.
func validatePartition(n int32, at *field.Path) field.ErrorList {
	if n == 0 {
		return nil
	}
	return kind.Invalid(at, n, utilvalidation.IsInRange(int(n), 1, 255))
}

func validateGlusterfs(g *corev1.GlusterfsVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("endpoints"), g.EndpointsName)
	return append(errs, kind.Required(at.Child("path"), g.Path)...)
}

func validateFlocker(f *corev1.FlockerVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch name, id := f.DatasetName != "", f.DatasetUUID != ""; {
	case !name && !id:
		errs = append(errs, field.Required(at, "one of datasetName and datasetUUID is required"))
	case name && id:
		errs = append(errs, field.Invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(f.DatasetName, "/") {
		errs = append(errs, field.Invalid(at.Child("datasetName"), f.DatasetName, "must not contain '/'"))
	}
	return errs
}

func validateRBD(r *corev1.RBDVolumeSource, at *field.Path) field.ErrorList {
	return validateCeph(r.CephMonitors, r.RBDImage, at)
}

func validateCeph(monitors []string, image string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(monitors) == 0 {
		errs = append(errs, field.Required(at.Child("monitors"), ""))
	}
	return append(errs, kind.Required(at.Child("image"), image)...)
}

func validateCephFS(c *corev1.CephFSVolumeSource, at *field.Path) field.ErrorList {
	return validateMonitors(c.Monitors, at)
}

func validateMonitors(monitors []string, at *field.Path) field.ErrorList {
	if len(monitors) == 0 {
		return field.ErrorList{field.Required(at.Child("monitors"), "")}
	}
	return nil
}

func validateCinder(c *corev1.CinderVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("volumeID"), c.VolumeID)
	return append(errs, validateLocalSecret(c.SecretRef, at)...)
}

func validateLocalSecret(ref *corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return kind.Required(at.Child("secretRef", "name"), ref.Name)
}

func validateQuobyte(q *corev1.QuobyteVolumeSource, at *field.Path) field.ErrorList {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	var errs field.ErrorList
	switch registry := at.Child("registry"); {
	case q.Registry == "":
		errs = append(errs, field.Required(registry, pairs))
	case len(q.Tenant) >= 65:
		errs = append(errs, field.Required(at.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for pair := range strings.SplitSeq(q.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(registry, q.Registry, pairs))
			}
		}
	}
	return append(errs, kind.Required(at.Child("volume"), q.Volume)...)
}

func validateFlex(f *corev1.FlexVolumeSource, at *field.Path) field.ErrorList {
	return validateFlexOptions(f.Driver, f.Options, at)
}

func validateFlexOptions(driver string, options map[string]string, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("driver"), driver)
	for key := range options {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(at.Child("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func validateAzureFile(a *corev1.AzureFileVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("secretName"), a.SecretName)
	return append(errs, kind.Required(at.Child("shareName"), a.ShareName)...)
}

func validateAzureDisk(a *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("diskName"), a.DiskName)
	errs = append(errs, kind.Required(at.Child("diskURI"), a.DataDiskURI)...)
	if m := a.CachingMode; m != nil {
		errs = append(errs, kind.Supported(at.Child("cachingMode"), *m,
			corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)...)
	}
	if a.Kind == nil {
		return errs
	}
	errs = append(errs, kind.Supported(at.Child("kind"), *a.Kind, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)...)
	managed := *a.Kind == corev1.AzureManagedDisk
	if managed && !strings.HasPrefix(a.DataDiskURI, "/subscriptions/") {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), a.DataDiskURI,
			[]string{"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"}))
	}
	if !managed && !strings.HasPrefix(a.DataDiskURI, "https://") {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), a.DataDiskURI,
			[]string{"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}))
	}
	return errs
}

func validateVsphere(v *corev1.VsphereVirtualDiskVolumeSource, at *field.Path) field.ErrorList {
	return kind.Required(at.Child("volumePath"), v.VolumePath)
}

func validatePhoton(p *corev1.PhotonPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return kind.Required(at.Child("pdID"), p.PdID)
}

func validatePortworx(p *corev1.PortworxVolumeSource, at *field.Path) field.ErrorList {
	return kind.Required(at.Child("volumeID"), p.VolumeID)
}

func validateStorageOS(s *corev1.StorageOSVolumeSource, at *field.Path) field.ErrorList {
	errs := validateStorageOSVolume(s.VolumeName, s.VolumeNamespace, at)
	return append(errs, validateLocalSecret(s.SecretRef, at)...)
}

func validateStorageOSVolume(name, namespace string, at *field.Path) field.ErrorList {
	errs := dnsLabel(name, at.Child("volumeName"))
	if namespace != "" {
		errs = append(errs, dnsLabel(namespace, at.Child("volumeNamespace"))...)
	}
	return errs
}

func validateScaleIO(s *corev1.ScaleIOVolumeSource, at *field.Path) field.ErrorList {
	return validateScaleIOVolume(s.Gateway, s.System, s.VolumeName, at)
}

func validateScaleIOVolume(gateway, system, name string, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("gateway"), gateway)
	errs = append(errs, kind.Required(at.Child("system"), system)...)
	return append(errs, kind.Required(at.Child("volumeName"), name)...)
}

func validateCSI(c *corev1.CSIVolumeSource, at *field.Path) field.ErrorList {
	errs := validateDriver(c.Driver, at.Child("driver"))
	ref := c.NodePublishSecretRef
	switch {
	case ref == nil:
	case ref.Name == "":
		errs = append(errs, field.Required(at.Child("nodePublishSecretRef", "name"), ""))
	default:
		errs = append(errs, kind.Invalid(at.Child("name"), ref.Name, validation.NameIsDNSSubdomain(ref.Name, false))...)
	}
	return errs
}

// validateDriver accepts capitals.
func validateDriver(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > 63 {
		errs = append(errs, field.TooLong(at, name, 63))
	}
	return append(errs, kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}
