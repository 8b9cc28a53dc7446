package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const moreSources = "may not specify more than 1 volume type"

// validateVolumes also records the volumes that can be mounted.
func validateVolumes(s *scope, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	s.volumes = make(map[string]*corev1.Volume, len(s.Volumes))
	claims := claimsOfPod(s)
	for i := range s.Volumes {
		v, at := &s.Volumes[i], at.Index(i)
		volumeErrs := validateVolumeSource(s, v, at)
		volumeErrs = append(volumeErrs, dnsLabel(v.Name, at.Child("name"))...)
		if s.volumes[v.Name] != nil {
			volumeErrs = append(volumeErrs, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(volumeErrs) == 0 {
			s.volumes[v.Name] = v
		}
		errs = append(errs, volumeErrs...)
		if c := v.PersistentVolumeClaim; c != nil && claims.Has(c.ClaimName) {
			errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

// claimsOfPod returns the names of the claims that are created for the pod.
func claimsOfPod(s *scope) sets.Set[string] {
	var names sets.Set[string]
	for i := range s.Volumes {
		if v := &s.Volumes[i]; v.Ephemeral != nil && s.pod != nil && s.pod.Name != "" {
			if names == nil {
				names = sets.New[string]()
			}
			names.Insert(s.pod.Name + "-" + v.Name)
		}
	}
	return names
}

// validateVolumeSource requires one source, and validates the first one only. Defaulting sets a
// source if there is none.
func validateVolumeSource(s *scope, v *corev1.Volume, at *field.Path) field.ErrorList {
	one := &kind.Union{At: at, Refusal: moreSources}
	kind.Member(one, v.EmptyDir, validateEmptyDir, "emptyDir")
	kind.Member(one, v.HostPath, validateHostPath, "hostPath")
	kind.Member(one, v.GitRepo, validateGitRepo, "gitRepo")
	kind.Member(one, v.GCEPersistentDisk, validateGCEDisk, "gcePersistentDisk", "persistentDisk")
	kind.Member(one, v.AWSElasticBlockStore, validateAWSDisk, "awsElasticBlockStore")
	kind.Member(one, v.Secret, validateSecret, "secret")
	kind.Member(one, v.NFS, validateNFS, "nfs")
	kind.Member(one, v.ISCSI, validateISCSI, "iscsi")
	if i := v.ISCSI; i != nil && i.InitiatorName != nil {
		one.Errs = append(one.Errs, validateISCSIName(v.Name, i.TargetPortal, v.Name, at.Child("name"))...)
	}
	kind.Member(one, v.Glusterfs, validateGlusterfs, "glusterfs")
	kind.Member(one, v.Flocker, validateFlocker, "flocker")
	kind.Member(one, v.PersistentVolumeClaim, validateClaimVolume, "persistentVolumeClaim")
	kind.Member(one, v.RBD, validateRBD, "rbd")
	kind.Member(one, v.Cinder, validateCinder, "cinder")
	kind.Member(one, v.CephFS, validateCephFS, "cephFS", "cephfs")
	kind.Member(one, v.Quobyte, validateQuobyte, "quobyte")
	kind.Member(one, v.DownwardAPI, validateDownward, "downwarAPI", "downwardAPI") // sic
	kind.Member(one, v.FC, validateFC, "fc")
	kind.Member(one, v.FlexVolume, validateFlex, "flexVolume")
	kind.Member(one, v.ConfigMap, validateConfigMap, "configMap")
	kind.Member(one, v.AzureFile, validateAzureFile, "azureFile")
	kind.Member(one, v.VsphereVolume, validateVsphere, "vsphereVolume")
	kind.Member(one, v.PhotonPersistentDisk, validatePhoton, "photonPersistentDisk")
	kind.Member(one, v.PortworxVolume, validatePortworx, "portworxVolume")
	kind.Member(one, v.AzureDisk, validateAzureDisk, "azureDisk")
	kind.Member(one, v.StorageOS, validateStorageOS, "storageos")
	kind.Member(one, v.Projected, validateProjected, "projected")
	kind.Member(one, v.ScaleIO, validateScaleIO, "scaleIO")
	kind.Member(one, v.CSI, validateCSI, "csi")
	kind.Member(one, v.Ephemeral, func(*corev1.EphemeralVolumeSource, *field.Path) field.ErrorList {
		return validateEphemeralVolume(s, v, at)
	}, "ephemeral")
	kind.Member(one, v.Image, func(i *corev1.ImageVolumeSource, at *field.Path) field.ErrorList {
		return validateImageVolume(s, i, at)
	}, "image")
	return one.Errs
}

func validateEmptyDir(e *corev1.EmptyDirVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if e.SizeLimit != nil && e.SizeLimit.Sign() < 0 {
		errs = append(errs, field.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity"))
	}
	if m := e.Mode; m != nil && (*m < 0 || *m > 0o1777) {
		errs = append(errs, field.Invalid(at.Child("mode"), *m, "must be a number between 0 and 01777 (octal), both inclusive"))
	}
	return errs
}

func validateClaimVolume(c *corev1.PersistentVolumeClaimVolumeSource, at *field.Path) field.ErrorList {
	return kind.Required(at.Child("claimName"), c.ClaimName)
}

// validateEphemeralVolume validates the template of a claim, and the claim's name, which consists
// of the names of the pod and the volume.
func validateEphemeralVolume(s *scope, v *corev1.Volume, at *field.Path) field.ErrorList {
	template := at.Child("ephemeral", "volumeClaimTemplate")
	t := v.Ephemeral.VolumeClaimTemplate
	if t == nil {
		return field.ErrorList{field.Required(template, "")}
	}
	errs := validateClaimMeta(&t.ObjectMeta, template.Child("metadata"))
	errs = append(errs, ValidateClaimSpec(&t.Spec, template.Child("spec"))...)
	if s.pod == nil || s.pod.Name == "" || v.Name == "" {
		return errs
	}
	name := s.pod.Name + "-" + v.Name
	for _, message := range validation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(at.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", name, message)))
	}
	return errs
}

// validateImageVolume accepts a template without an image: a controller may set it.
func validateImageVolume(s *scope, i *corev1.ImageVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.pod != nil {
		errs = kind.Required(at.Child("reference"), i.Reference)
	}
	return append(errs, validatePullPolicy(i.PullPolicy, at.Child("pullPolicy"))...)
}

// validateTokens rejects projected tokens in a pod without a service account.
func validateTokens(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	if spec.ServiceAccountName != "" {
		return nil
	}
	var errs field.ErrorList
	for i := range spec.Volumes {
		projected := spec.Volumes[i].Projected
		if projected == nil {
			continue
		}
		for j := range projected.Sources {
			if projected.Sources[j].ServiceAccountToken != nil {
				errs = append(errs, field.Forbidden(at.Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"),
					"must not be specified when serviceAccountName is not set"))
			}
		}
	}
	return errs
}
