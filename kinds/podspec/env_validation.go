package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const oneSource = "may not have more than one field specified at a time"

func validateEnv(env []corev1.EnvVar, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range env {
		at := at.Index(i)
		if env[i].Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, kind.Invalid(at.Child("name"), env[i].Name, utilvalidation.IsRelaxedEnvVarName(env[i].Name))...)
		}
		if env[i].ValueFrom != nil {
			errs = append(errs, validateEnvSource(&env[i], at.Child("valueFrom"))...)
		}
	}
	return errs
}

func validateEnvSource(env *corev1.EnvVar, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	source := env.ValueFrom
	if ref := source.FieldRef; ref != nil {
		errs = append(errs, validateFieldRef(ref, fieldsInEnv, at.Child("fieldRef"))...)
	}
	if ref := source.ResourceFieldRef; ref != nil {
		at := at.Child("resourceFieldRef")
		errs = append(errs, validateResourceRef(ref, at)...)
		errs = append(errs, validateDivisor(ref, at)...)
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, at.Child("configMapKeyRef"))...)
	}
	if ref := source.SecretKeyRef; ref != nil {
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, at.Child("secretKeyRef"))...)
	}
	if ref := source.FileKeyRef; ref != nil {
		errs = append(errs, validateFileKey(ref, at.Child("fileKeyRef"))...)
	}
	n := count(source.FieldRef != nil, source.ResourceFieldRef != nil, source.ConfigMapKeyRef != nil,
		source.SecretKeyRef != nil, source.FileKeyRef != nil)
	switch {
	case n == 0:
		errs = append(errs, field.Invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case env.Value != "":
		errs = append(errs, field.Invalid(at, "", "may not be specified when `value` is not empty"))
	case n > 1:
		errs = append(errs, field.Invalid(at, "", oneSource))
	}
	return errs
}

func validateKeyRef(name, key string, at *field.Path) field.ErrorList {
	errs := kind.Invalid(at.Child("name"), name, utilvalidation.IsDNS1123Subdomain(name))
	if key == "" {
		return append(errs, field.Required(at.Child("key"), ""))
	}
	return append(errs, kind.Invalid(at.Child("key"), key, utilvalidation.IsConfigMapKey(key))...)
}

// validateFileKey validates a variable from a file in a volume.
func validateFileKey(ref *corev1.FileKeySelector, at *field.Path) field.ErrorList {
	errs := kind.Formatted(at.Child("key"), ref.Key, utilvalidation.IsRelaxedEnvVarName)
	errs = append(errs, dnsLabel(ref.VolumeName, at.Child("volumeName"))...)
	if ref.Path == "" {
		return append(errs, field.Required(at.Child("path"), ""))
	}
	return append(errs, validateNoBacksteps(ref.Path, at.Child("path"))...)
}

// validateFileVolumes validates the volumes that variables are read from.
func validateFileVolumes(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		for i, env := range c.Env {
			if env.ValueFrom == nil || env.ValueFrom.FileKeyRef == nil {
				continue
			}
			at, name := at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName"), env.ValueFrom.FileKeyRef.VolumeName
			switch j := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }); {
			case j < 0:
				errs = append(errs, field.NotFound(at, name))
			case spec.Volumes[j].EmptyDir == nil:
				errs = append(errs, field.Invalid(at, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}

func validateEnvFrom(sources []corev1.EnvFromSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range sources {
		s := &sources[i]
		if s.Prefix != "" {
			errs = append(errs, kind.Invalid(at.Index(i).Child("prefix"), s.Prefix, utilvalidation.IsRelaxedEnvVarName(s.Prefix))...)
		}
		if s.ConfigMapRef != nil {
			errs = append(errs, validateRef(s.ConfigMapRef.Name, at.Index(i).Child("configMapRef"))...)
		}
		if s.SecretRef != nil {
			errs = append(errs, validateRef(s.SecretRef.Name, at.Index(i).Child("secretRef"))...)
		}
		switch {
		case s.ConfigMapRef == nil && s.SecretRef == nil:
			errs = append(errs, field.Invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"))
		case s.ConfigMapRef != nil && s.SecretRef != nil:
			errs = append(errs, field.Invalid(at, "", oneSource))
		}
	}
	return errs
}

func validateRef(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at.Child("name"), "")}
	}
	return kind.Invalid(at.Child("name"), name, utilvalidation.IsDNS1123Subdomain(name))
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
