package core

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	errs := kind.Finalizers(c)
	size := 0
	for key, value := range c.Data {
		errs = append(errs, validateDataKey("data", key)...)
		if _, taken := c.BinaryData[key]; taken {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(value)
	}
	for key, value := range c.BinaryData {
		errs = append(errs, validateDataKey("binaryData", key)...)
		size += len(value)
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

// validateDataKey makes no path for a key that is fine: most are.
func validateDataKey(name, key string) field.ErrorList {
	messages := utilvalidation.IsConfigMapKey(key)
	if len(messages) == 0 {
		return nil
	}
	return kind.Invalid(field.NewPath(name).Key(key), key, messages)
}

// keysOf are the keys that secrets of a type cannot do without.
var keysOf = map[corev1.SecretType][]string{
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	errs := kind.Finalizers(s)
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

// validateSecretContent says what is wrong, but not with what.
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
