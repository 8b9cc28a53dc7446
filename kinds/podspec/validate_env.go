package podspec

import (
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
	if ref := source.ConfigMapKeyRef; ref != nil {
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, at.Child("configMapKeyRef"))...)
	}
	if ref := source.SecretKeyRef; ref != nil {
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, at.Child("secretKeyRef"))...)
	}
	n := count(source.FieldRef != nil, source.ResourceFieldRef != nil, source.ConfigMapKeyRef != nil,
		source.SecretKeyRef != nil, source.FileKeyRef != nil)
	switch {
	case env.Value != "" && n > 0:
		errs = append(errs, field.Invalid(at, "", "may not be specified when `value` is not empty"))
	case env.Value == "" && n > 1:
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

func validateEnvFrom(sources []corev1.EnvFromSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range sources {
		s := &sources[i]
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
