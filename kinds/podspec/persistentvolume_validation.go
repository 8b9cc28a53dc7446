package podspec

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// ValidateVolumeSpec validates the spec of a persistent volume. One rule depends on its name.
func ValidateVolumeSpec(spec *corev1.PersistentVolumeSpec, name string, at *field.Path) field.ErrorList {
	errs := validateModes(spec.AccessModes, at.Child("accessModes"))
	errs = append(errs, validateCapacity(spec.Capacity, at.Child("capacity"))...)
	policy := at.Child("persistentVolumeReclaimPolicy")
	errs = append(errs, kind.Supported(policy, spec.PersistentVolumeReclaimPolicy,
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)...)
	if a := spec.NodeAffinity; a != nil && a.Required != nil {
		errs = append(errs, ValidateNodeSelector(a.Required, at.Child("nodeAffinity", "required"))...)
	} else if a != nil {
		errs = append(errs, field.Required(at.Child("nodeAffinity", "required"), "must specify required node constraints"))
	}
	errs = append(errs, validatePersistentSource(spec, name, at)...)
	if spec.HostPath != nil && path.Clean(spec.HostPath.Path) == "/" && spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(policy, "may not be 'recycle' for a hostPath mount of '/'"))
	}
	errs = append(errs, subdomain(spec.StorageClassName, at.Child("storageClassName"))...)
	errs = append(errs, ValidateVolumeMode(spec.VolumeMode, at.Child("volumeMode"))...)
	return append(errs, validateAttributes(spec, at)...)
}

// ValidateInlineVolume validates the volume in a VolumeAttachment: it has a CSI source only, and no
// fields for the binding to a claim.
func ValidateInlineVolume(spec *corev1.PersistentVolumeSpec, name string, at *field.Path) field.ErrorList {
	const text = "may not be specified in the context of inline volumes"
	var errs field.ErrorList
	forbid := func(child string, set bool) {
		if set {
			errs = append(errs, field.Forbidden(at.Child(child), text))
		}
	}
	forbid("capacity", len(spec.Capacity) > 0)
	forbid("claimRef", spec.ClaimRef != nil)
	forbid("nodeAffinity", spec.NodeAffinity != nil)
	forbid("storageClassName", spec.StorageClassName != "")
	if policy := spec.PersistentVolumeReclaimPolicy; policy != "" && policy != corev1.PersistentVolumeReclaimRetain {
		errs = append(errs, field.Forbidden(at.Child("persistentVolumeReclaimPolicy"), "may only be Retain in the context of inline volumes"))
	}
	if spec.CSI == nil {
		errs = append(errs, field.Required(at.Child("csi"), "has to be specified in the context of inline volumes"))
	}
	if mode := spec.VolumeMode; mode != nil && *mode != corev1.PersistentVolumeFilesystem {
		errs = append(errs, field.Forbidden(at.Child("volumeMode"), "may not specify volumeMode other than Filesystem in the context of inline volumes"))
	}
	errs = append(errs, validateModes(spec.AccessModes, at.Child("accessModes"))...)
	return append(errs, validatePersistentSource(spec, name, at)...)
}

// validateModes requires at least one access mode.
func validateModes(modes []corev1.PersistentVolumeAccessMode, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(modes) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	return append(errs, ValidateAccessModes(modes, at)...)
}

func validateCapacity(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(list) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	if _, ok := list[corev1.ResourceStorage]; !ok || len(list) > 1 {
		errs = append(errs, field.NotSupported(at, list, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for name, quantity := range list {
		if quantity.Value() < 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), quantity.Value(), "must be a valid resource quantity"))
		}
		if quantity.Sign() <= 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), quantity.String(), notPositive))
		}
	}
	return errs
}

// validateAttributes requires a CSI source for a class of attributes.
func validateAttributes(spec *corev1.PersistentVolumeSpec, at *field.Path) field.ErrorList {
	name := spec.VolumeAttributesClassName
	if name == nil {
		return nil
	}
	var errs field.ErrorList
	if *name == "" {
		errs = append(errs, field.Required(at.Child("volumeAttributesClassName"), "an empty string is disallowed"))
	}
	errs = append(errs, subdomain(*name, at.Child("volumeAttributesClassName"))...)
	if spec.CSI == nil {
		errs = append(errs, field.Required(at.Child("csi"), "has to be specified when using volumeAttributesClassName"))
	}
	return errs
}

// validatePersistentSource requires exactly one source.
func validatePersistentSource(v *corev1.PersistentVolumeSpec, name string, at *field.Path) field.ErrorList {
	one := &kind.Union{At: at, Refusal: moreSources}
	kind.Member(one, v.HostPath, validateHostPath, "hostPath")
	kind.Member(one, v.GCEPersistentDisk, validateGCEDisk, "gcePersistentDisk", "persistentDisk")
	kind.Member(one, v.AWSElasticBlockStore, validateAWSDisk, "awsElasticBlockStore")
	kind.Member(one, v.Glusterfs, validatePersistentGlusterfs, "glusterfs")
	kind.Member(one, v.Flocker, validateFlocker, "flocker")
	kind.Member(one, v.NFS, validateNFS, "nfs")
	kind.Member(one, v.RBD, func(r *corev1.RBDPersistentVolumeSource, at *field.Path) field.ErrorList {
		return validateCeph(r.CephMonitors, r.RBDImage, at)
	}, "rbd")
	kind.Member(one, v.Quobyte, validateQuobyte, "quobyte")
	kind.Member(one, v.CephFS, func(c *corev1.CephFSPersistentVolumeSource, at *field.Path) field.ErrorList {
		return validateMonitors(c.Monitors, at)
	}, "cephFS", "cephfs")
	kind.Member(one, v.ISCSI, func(i *corev1.ISCSIPersistentVolumeSource, at *field.Path) field.ErrorList {
		return validatePersistentISCSI(i, name, at)
	}, "iscsi")
	kind.Member(one, v.Cinder, validatePersistentCinder, "cinder")
	kind.Member(one, v.FC, validateFC, "fc")
	if f := v.FlexVolume; f != nil { // not rejected as a second source, as in kube-apiserver
		one.Found = true
		one.Errs = append(one.Errs, validateFlexOptions(f.Driver, f.Options, at.Child("flexVolume"))...)
	}
	kind.Member(one, v.AzureFile, validatePersistentAzureFile, "azureFile")
	kind.Member(one, v.VsphereVolume, validateVsphere, "vsphereVolume")
	kind.Member(one, v.PhotonPersistentDisk, validatePhoton, "photonPersistentDisk")
	kind.Member(one, v.PortworxVolume, validatePortworx, "portworxVolume")
	kind.Member(one, v.AzureDisk, validateAzureDisk, "azureDisk")
	kind.Member(one, v.ScaleIO, func(s *corev1.ScaleIOPersistentVolumeSource, at *field.Path) field.ErrorList {
		return validateScaleIOVolume(s.Gateway, s.System, s.VolumeName, at)
	}, "scaleIO")
	kind.Member(one, v.Local, func(l *corev1.LocalVolumeSource, local *field.Path) field.ErrorList {
		return validateLocal(l, v.NodeAffinity != nil, local, at)
	}, "local")
	kind.Member(one, v.StorageOS, validatePersistentStorageOS, "storageos")
	kind.Member(one, v.CSI, validatePersistentCSI, "csi")
	if !one.Found {
		one.Errs = append(one.Errs, field.Required(at, "must specify a volume type"))
	}
	return one.Errs
}

func validatePersistentGlusterfs(g *corev1.GlusterfsPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := validateGlusterfs(&corev1.GlusterfsVolumeSource{EndpointsName: g.EndpointsName, Path: g.Path}, at)
	namespace := at.Child("endpointsNamespace")
	switch {
	case g.EndpointsNamespace == nil:
	case *g.EndpointsNamespace == "":
		errs = append(errs, field.Invalid(namespace, "", "if the endpointnamespace is set, it must be a valid namespace name"))
	default:
		errs = append(errs, kind.Invalid(namespace, *g.EndpointsNamespace, validation.ValidateNamespaceName(*g.EndpointsNamespace, false))...)
	}
	return errs
}

func validatePersistentISCSI(i *corev1.ISCSIPersistentVolumeSource, volume string, at *field.Path) field.ErrorList {
	const unknown = "must be valid format"
	errs := kind.Required(at.Child("targetPortal"), i.TargetPortal)
	if i.InitiatorName != nil {
		errs = append(errs, validateISCSIName(volume, i.TargetPortal, i.TargetPortal, at.Child("targetportal"))...)
	}
	errs = append(errs, validateIQN(i.IQN, unknown, at.Child("iqn"))...)
	errs = append(errs, validateLUN(i.Lun, at.Child("lun"))...)
	switch {
	case i.SecretRef != nil:
		errs = append(errs, kind.Required(at.Child("secretRef", "name"), i.SecretRef.Name)...)
	case i.DiscoveryCHAPAuth || i.SessionCHAPAuth:
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if i.InitiatorName != nil {
		errs = append(errs, validateTarget(*i.InitiatorName, unknown, at.Child("initiatorname"))...)
	}
	return errs
}

func validatePersistentCinder(c *corev1.CinderPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("volumeID"), c.VolumeID)
	if ref := c.SecretRef; ref != nil {
		errs = append(errs, kind.Required(at.Child("secretRef", "name"), ref.Name)...)
		errs = append(errs, kind.Required(at.Child("secretRef", "namespace"), ref.Namespace)...)
	}
	return errs
}

func validatePersistentAzureFile(a *corev1.AzureFilePersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("secretName"), a.SecretName)
	errs = append(errs, kind.Required(at.Child("shareName"), a.ShareName)...)
	if a.SecretNamespace != nil {
		errs = append(errs, kind.Required(at.Child("secretNamespace"), *a.SecretNamespace)...)
	}
	return errs
}

// validateLocal requires node affinity for a local volume.
func validateLocal(l *corev1.LocalVolumeSource, hasAffinity bool, at, volume *field.Path) field.ErrorList {
	var errs field.ErrorList
	if l.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	} else {
		errs = append(errs, validateNoBacksteps(l.Path, at.Child("path"))...)
	}
	if !hasAffinity {
		errs = append(errs, field.Required(volume.Child("nodeAffinity"), "Local volume requires node affinity"))
	}
	return errs
}

func validatePersistentStorageOS(s *corev1.StorageOSPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := validateStorageOSVolume(s.VolumeName, s.VolumeNamespace, at)
	if ref := s.SecretRef; ref != nil {
		errs = append(errs, kind.Required(at.Child("secretRef", "name"), ref.Name)...)
		errs = append(errs, kind.Required(at.Child("secretRef", "namespace"), ref.Namespace)...)
	}
	return errs
}

func validatePersistentCSI(c *corev1.CSIPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := validateDriver(c.Driver, at.Child("driver"))
	errs = append(errs, kind.Required(at.Child("volumeHandle"), c.VolumeHandle)...)
	secret := func(name string, ref *corev1.SecretReference) {
		if ref != nil {
			errs = append(errs, validateSecretRef(ref, at.Child(name))...)
		}
	}
	secret("controllerPublishSecretRef", c.ControllerPublishSecretRef)
	secret("controllerExpandSecretRef", c.ControllerExpandSecretRef)
	secret("nodePublishSecretRef", c.NodePublishSecretRef)
	secret("nodeExpandSecretRef", c.NodeExpandSecretRef)
	return errs
}

func validateSecretRef(ref *corev1.SecretReference, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("name"), ref.Name)
	if ref.Name != "" {
		errs = append(errs, kind.Invalid(at.Child("name"), ref.Name, utilvalidation.IsDNS1123Subdomain(ref.Name))...)
	}
	return append(errs, dnsLabel(ref.Namespace, at.Child("namespace"))...)
}
