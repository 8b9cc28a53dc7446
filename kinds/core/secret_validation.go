package core

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
)

// keysOf maps the types of secrets to their required keys.
var keysOf = map[corev1.SecretType][]string{
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	data := field.NewPath("data")
	size := 0
	for key, value := range s.Data {
		errs = append(errs, validateDataKey("data", key)...)
		size += len(value)
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	for _, key := range keysOf[s.Type] {
		if value, ok := s.Data[key]; !ok || len(value) == 0 && s.Type == corev1.SecretTypeSSHAuth {
			errs = append(errs, field.Required(data.Key(key), ""))
		}
	}
	return append(errs, validateSecretContent(s, data)...)
}

// validateSecretContent does not show the values in its errors.
func validateSecretContent(s *corev1.Secret, data *field.Path) field.ErrorList {
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			return field.ErrorList{field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")}
		}
	case corev1.SecretTypeDockercfg, corev1.SecretTypeDockerConfigJson:
		key := keysOf[s.Type][0]
		content, ok := s.Data[key]
		if err := json.Unmarshal(content, &map[string]any{}); ok && err != nil {
			return field.ErrorList{field.Invalid(data.Key(key), "<secret contents redacted>", err.Error())}
		}
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			return field.ErrorList{
				field.Required(data.Key(corev1.BasicAuthUsernameKey), ""),
				field.Required(data.Key(corev1.BasicAuthPasswordKey), ""),
			}
		}
	}
	return nil
}

// validateSecretUpdate reports the errors of finalizers a second time, as kube-apiserver does.
func validateSecretUpdate(obj, old *corev1.Secret) field.ErrorList {
	errs := validation.ValidateImmutableField(obj.Type, old.Type, field.NewPath("type"))
	if ptr.Deref(old.Immutable, false) {
		if !ptr.Deref(obj.Immutable, false) {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableMessage))
		}
		if !sameData(obj.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), immutableMessage))
		}
	}
	errs = append(errs, kind.ValidateFinalizers(obj)...)
	return append(errs, validateSecret(obj)...)
}
