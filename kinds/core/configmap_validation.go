package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
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

// validateDataKey builds the path only for an invalid key.
func validateDataKey(name, key string) field.ErrorList {
	messages := utilvalidation.IsConfigMapKey(key)
	if len(messages) == 0 {
		return nil
	}
	return kind.Invalid(field.NewPath(name).Key(key), key, messages)
}

const immutableMessage = "field is immutable when `immutable` is set"

// validateConfigMapUpdate reports the errors of finalizers a second time, as kube-apiserver does.
func validateConfigMapUpdate(obj, old *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	if ptr.Deref(old.Immutable, false) {
		if !ptr.Deref(obj.Immutable, false) {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableMessage))
		}
		if !equality.Semantic.DeepEqual(obj.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), immutableMessage))
		}
		if !sameData(obj.BinaryData, old.BinaryData) {
			errs = append(errs, field.Forbidden(field.NewPath("binaryData"), immutableMessage))
		}
	}
	errs = append(errs, kind.ValidateFinalizers(obj)...)
	return append(errs, validateConfigMap(obj)...)
}

// sameData compares binary data, or the data of a Secret, with the stored data. As in
// kube-apiserver, an empty map, which is stored as no map, is a change.
func sameData[V any](data, stored map[string]V) bool {
	if data != nil && len(data) == 0 {
		return false
	}
	return equality.Semantic.DeepEqual(data, stored)
}
