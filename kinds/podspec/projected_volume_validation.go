package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The volumes whose files are objects of the API.

func validateSecret(s *corev1.SecretVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("secretName"), s.SecretName)
	errs = append(errs, validateMode(s.DefaultMode, at.Child("defaultMode"))...)
	errs = append(errs, validateUser(s.DefaultUser, at.Child("defaultUser"))...)
	return append(errs, validateKeys(s.Items, at.Child("items"))...)
}

func validateConfigMap(c *corev1.ConfigMapVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("name"), c.Name)
	errs = append(errs, validateMode(c.DefaultMode, at.Child("defaultMode"))...)
	errs = append(errs, validateUser(c.DefaultUser, at.Child("defaultUser"))...)
	return append(errs, validateKeys(c.Items, at.Child("items"))...)
}

func validateDownward(d *corev1.DownwardAPIVolumeSource, at *field.Path) field.ErrorList {
	errs := validateMode(d.DefaultMode, at.Child("defaultMode"))
	errs = append(errs, validateUser(d.DefaultUser, at.Child("defaultUser"))...)
	for i := range d.Items {
		errs = append(errs, validateDownwardFile(&d.Items[i], at)...)
	}
	return errs
}

func validateMode(mode *int32, at *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}

// validateUser validates the user that owns a file.
func validateUser(user *int64, at *field.Path) field.ErrorList {
	if user == nil {
		return nil
	}
	return kind.Invalid(at, *user, utilvalidation.IsValidUserID(*user))
}

func validateKeys(items []corev1.KeyToPath, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range items {
		item, at := &items[i], at.Index(i)
		errs = append(errs, kind.Required(at.Child("key"), item.Key)...)
		errs = append(errs, kind.Required(at.Child("path"), item.Path)...)
		errs = append(errs, validateFileName(item.Path, at.Child("path"))...)
		errs = append(errs, validateMode(item.Mode, at.Child("mode"))...)
		errs = append(errs, validateUser(item.User, at.Child("user"))...)
	}
	return errs
}

// validateDownwardFile reports errors without the index of the file, as kube-apiserver does.
func validateDownwardFile(f *corev1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("path"), f.Path)
	errs = append(errs, validateFileName(f.Path, at.Child("path"))...)
	switch {
	case f.FieldRef != nil:
		errs = append(errs, validateFieldRef(f.FieldRef, fieldsInFiles, at.Child("fieldRef"))...)
		if f.ResourceFieldRef != nil {
			errs = append(errs, field.Invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case f.ResourceFieldRef != nil:
		at := at.Child("resourceFieldRef")
		if f.ResourceFieldRef.ContainerName == "" {
			errs = append(errs, field.Required(at.Child("containerName"), ""))
		} else {
			errs = append(errs, validateResourceRef(f.ResourceFieldRef, at)...)
		}
		errs = append(errs, validateDivisor(f.ResourceFieldRef, at)...)
	default:
		errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
	}
	errs = append(errs, validateMode(f.Mode, at.Child("mode"))...)
	return append(errs, validateUser(f.User, at.Child("user"))...)
}

func validateProjected(p *corev1.ProjectedVolumeSource, at *field.Path) field.ErrorList {
	errs := validateMode(p.DefaultMode, at.Child("defaultMode"))
	errs = append(errs, validateUser(p.DefaultUser, at.Child("defaultUser"))...)
	paths := projectedPaths{taken: sets.New[string](), at: at}
	for i := range p.Sources {
		source, at := &p.Sources[i], at.Child("sources").Index(i)
		errs = append(errs, paths.validate(source, at)...)
		if count(source.Secret != nil, source.ConfigMap != nil, source.DownwardAPI != nil, source.ServiceAccountToken != nil,
			source.ClusterTrustBundle != nil, source.PodCertificate != nil) > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
		}
	}
	return errs
}

// projectedPaths are the paths in use by the sources of one volume.
type projectedPaths struct {
	taken sets.Set[string]
	at    *field.Path // of the volume
}

// take rejects a path in use. The value in the message depends on the source.
func (p *projectedPaths) take(path, shown string) field.ErrorList {
	if path == "" {
		return nil
	}
	if p.taken.Has(path) {
		return field.ErrorList{field.Invalid(p.at, shown, "conflicting duplicate paths")}
	}
	p.taken.Insert(path)
	return nil
}

func (p *projectedPaths) validate(source *corev1.VolumeProjection, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := source.Secret; s != nil {
		errs = append(errs, p.validateObject(s.Name, s.Items, at.Child("secret"))...)
	}
	if c := source.ConfigMap; c != nil {
		errs = append(errs, p.validateObject(c.Name, c.Items, at.Child("configMap"))...)
	}
	if d := source.DownwardAPI; d != nil {
		for i := range d.Items {
			errs = append(errs, validateDownwardFile(&d.Items[i], at.Child("downwardAPI"))...)
			errs = append(errs, p.take(d.Items[i].Path, d.Items[i].Path)...)
		}
	}
	if t := source.ServiceAccountToken; t != nil {
		errs = append(errs, p.validateToken(t, at.Child("serviceAccountToken"))...)
		errs = append(errs, validateUser(t.User, at.Child("serviceAccountToken", "user"))...)
	}
	if b := source.ClusterTrustBundle; b != nil {
		at := at.Child("clusterTrustBundle")
		errs = append(errs, validateTrust(b, at)...)
		errs = append(errs, kind.Required(at.Child("path"), b.Path)...)
		errs = append(errs, validateFileName(b.Path, at.Child("path"))...)
		errs = append(errs, p.take(b.Path, b.Path)...)
		errs = append(errs, validateUser(b.User, at.Child("user"))...)
	}
	if c := source.PodCertificate; c != nil {
		errs = append(errs, p.validateCertificate(c, at.Child("podCertificate"))...)
		errs = append(errs, validateUser(c.User, at.Child("podCertificate", "user"))...)
	}
	return errs
}

func (p *projectedPaths) validateObject(name string, items []corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("name"), name)
	errs = append(errs, validateKeys(items, at.Child("items"))...)
	for _, item := range items {
		errs = append(errs, p.take(item.Path, name)...)
	}
	return errs
}

func (p *projectedPaths) validateToken(t *corev1.ServiceAccountTokenProjection, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if seconds := t.ExpirationSeconds; seconds != nil {
		at := at.Child("expirationSeconds")
		switch {
		case *seconds < 10*60:
			errs = append(errs, field.Invalid(at, *seconds, "may not specify a duration less than 10 minutes"))
		case *seconds > 1<<32:
			errs = append(errs, field.Invalid(at, *seconds, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	if t.Path == "" {
		return append(errs, field.Required(p.at.Child("path"), ""))
	}
	return append(errs, validateFileName(t.Path, p.at.Child("path"))...)
}

// validateTrust requires a bundle by name, or all bundles of a signer.
func validateTrust(b *corev1.ClusterTrustBundleProjection, at *field.Path) field.ErrorList {
	switch {
	case b.Name != nil && b.SignerName != nil:
		return field.ErrorList{field.Invalid(at, kind.GoJSON(b), "only one of name and signerName may be used")}
	case b.Name != nil:
		var errs field.ErrorList
		if *b.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "must be a valid object name"))
		}
		if b.LabelSelector != nil {
			errs = append(errs, field.Invalid(at.Child("labelSelector"), b.LabelSelector, "labelSelector must be unset if name is specified"))
		}
		return errs
	case b.SignerName != nil:
		var errs field.ErrorList
		if *b.SignerName == "" {
			errs = append(errs, field.Required(at.Child("signerName"), "must be a valid signer name"))
		}
		return append(errs, metavalidation.ValidateLabelSelector(b.LabelSelector, metavalidation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
	default:
		return field.ErrorList{field.Required(at, "either name or signerName must be specified")}
	}
}

// validateDescending rejects absolute paths and paths that contain "..".
func validateDescending(path string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(at, path, "must be a relative path"))
	}
	return append(errs, validateNoBacksteps(path, at)...)
}

func validateNoBacksteps(path string, at *field.Path) field.ErrorList {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." {
			return field.ErrorList{field.Invalid(at, path, "must not contain '..'")}
		}
	}
	return nil
}

// validateFileName rejects names that are reserved for the kubelet.
func validateFileName(path string, at *field.Path) field.ErrorList {
	errs := validateDescending(path, at)
	if strings.HasPrefix(path, "..") && !strings.HasPrefix(path, "../") {
		errs = append(errs, field.Invalid(at, path, "must not start with '..'"))
	}
	return errs
}
