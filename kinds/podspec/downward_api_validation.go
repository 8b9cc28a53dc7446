package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The fields of the downward API, in the order of messages.
var (
	fieldsInEnv = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	fieldsInFiles = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
	resourceRefs  = []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory",
		"requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
)

// validateFieldRef accepts a supported field, or one of the labels or annotations.
func validateFieldRef(ref *corev1.ObjectFieldSelector, fields []string, at *field.Path) field.ErrorList {
	path := at.Child("fieldPath")
	switch {
	case ref.APIVersion == "":
		return field.ErrorList{field.Required(at.Child("apiVersion"), "")}
	case ref.FieldPath == "":
		return field.ErrorList{field.Required(path, "")}
	case ref.APIVersion != "v1":
		return unknownField(ref, "unsupported pod version: "+ref.APIVersion, path)
	}
	if name, key, ok := subscript(ref.FieldPath); ok {
		switch name {
		case "metadata.annotations":
			key = strings.ToLower(key)
			return kind.Invalid(at, key, utilvalidation.IsQualifiedName(key))
		case "metadata.labels":
			return kind.Invalid(at, key, utilvalidation.IsQualifiedName(key))
		}
		return unknownField(ref, "field label does not support subscript: "+ref.FieldPath, path)
	}
	if !isFieldLabel(ref.FieldPath) {
		return unknownField(ref, "field label not supported: "+ref.FieldPath, path)
	}
	// Old clients use the name spec.host.
	if slices.Contains(fields, ref.FieldPath) || ref.FieldPath == "spec.host" && slices.Contains(fields, "spec.nodeName") {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, ref.FieldPath, fields)}
}

func unknownField(ref *corev1.ObjectFieldSelector, message string, at *field.Path) field.ErrorList {
	return field.ErrorList{field.Invalid(at, ref.FieldPath, "error converting fieldPath: "+message)}
}

// subscript parses metadata.labels['key'].
func subscript(path string) (name, key string, ok bool) {
	path, ok = strings.CutSuffix(path, "']")
	if !ok {
		return "", "", false
	}
	name, key, ok = strings.Cut(path, "['")
	return name, key, ok && name != ""
}

func isFieldLabel(path string) bool {
	switch path {
	case "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
		"spec.host", "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName",
		"status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs":
		return true
	}
	return false
}

func validateResourceRef(ref *corev1.ResourceFieldSelector, at *field.Path) field.ErrorList {
	switch {
	case ref.Resource == "":
		return field.ErrorList{field.Required(at.Child("resource"), "")}
	case slices.Contains(resourceRefs, ref.Resource), ofHugePages(ref.Resource):
		return nil
	default:
		return field.ErrorList{field.NotSupported(at.Child("resource"), ref.Resource, resourceRefs)}
	}
}

func ofHugePages(resource string) bool {
	return strings.HasPrefix(resource, "requests.hugepages-") || strings.HasPrefix(resource, "limits.hugepages-")
}

// byteDivisors are the units of resources in bytes.
var byteDivisors = sets.New("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")

// validateDivisor validates the unit of a resource.
func validateDivisor(ref *corev1.ResourceFieldSelector, at *field.Path) field.ErrorList {
	if ref.Divisor.IsZero() {
		return nil
	}
	const ofBytes = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the %s resource"
	divisor, message := ref.Divisor.String(), ""
	_, resource, _ := strings.Cut(ref.Resource, ".")
	switch {
	case resource == "cpu" && divisor != "1m" && divisor != "1":
		message = "only divisor's values 1m and 1 are supported with the cpu resource"
	case resource == "memory" && !byteDivisors.Has(divisor):
		message = fmt.Sprintf(ofBytes, "memory")
	case resource == "ephemeral-storage" && !byteDivisors.Has(divisor):
		message = fmt.Sprintf(ofBytes, "local ephemeral storage")
	case ofHugePages(ref.Resource) && !byteDivisors.Has(divisor):
		message = fmt.Sprintf(ofBytes, "hugepages")
	}
	if message == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("divisor"), ref.Resource, message)}
}
