package crd

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The error texts of this file are copied from kube-apiserver.

// readV1 returns the objects of a v1 response to the request with a UID.
func readV1(response *apiextensionsv1.ConversionReview, uid types.UID) ([]runtime.RawExtension, error) {
	want := apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview")
	if got := response.GroupVersionKind(); got != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	if response.Response == nil {
		return nil, errNoResponse
	}
	if got := response.Response.UID; got != uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, got)
	}
	return response.Response.ConvertedObjects, checkResult(response.Response.Result)
}

// readV1beta1 returns the objects of a v1beta1 response. In this version kind and UID are not
// checked.
func readV1beta1(response *v1beta1.ConversionReview) ([]runtime.RawExtension, error) {
	if response.Response == nil {
		return nil, errNoResponse
	}
	return response.Response.ConvertedObjects, checkResult(response.Response.Result)
}

var errNoResponse = errors.New("no response provided")

func checkResult(result metav1.Status) error {
	switch {
	case result.Status == metav1.StatusSuccess:
		return nil
	case result.Message != "":
		return errors.New(result.Message)
	}
	return fmt.Errorf("response.result.status was '%s', not 'Success'", result.Status)
}

// acceptConverted validates that a converted object is the original in the requested version, and
// restores its metadata: a webhook may change labels and annotations only.
func acceptConverted(original, converted *unstructured.Unstructured, apiVersion string) error {
	kind := original.GroupVersionKind()
	if got := converted.GroupVersionKind().GroupVersion().String(); got != apiVersion {
		return fmt.Errorf("conversion webhook for %v returned invalid object at index 0: invalid groupVersion (expected %v, received %v)", kind, apiVersion, got)
	}
	if got := converted.GetKind(); got != kind.Kind {
		return fmt.Errorf("conversion webhook for %v returned invalid object at index 0: invalid kind (expected %v, received %v)", kind, kind.Kind, got)
	}
	if err := checkIdentity(original, converted); err != nil {
		return fmt.Errorf("conversion webhook for %v returned invalid object: %w", kind, err)
	}
	if err := restoreMetadata(original.Object, converted.Object); err != nil {
		return fmt.Errorf("conversion webhook for %v returned invalid metadata: %w", kind, err)
	}
	return nil
}

func checkIdentity(original, converted *unstructured.Unstructured) error {
	for _, f := range []struct{ name, want, got string }{
		{"name", original.GetName(), converted.GetName()},
		{"namespace", original.GetNamespace(), converted.GetNamespace()},
		{"UID", string(original.GetUID()), string(converted.GetUID())},
	} {
		if f.want != f.got {
			return fmt.Errorf("must have the same %s: %v != %v", f.name, f.want, f.got)
		}
	}
	return nil
}

func restoreMetadata(original, converted map[string]any) error {
	value, found := converted["metadata"]
	if !found {
		return errors.New("missing metadata in converted object")
	}
	changed, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", value)
	}
	restored := map[string]any{}
	if before, ok := original["metadata"].(map[string]any); ok {
		restored = runtime.DeepCopyJSON(before)
	}
	converted["metadata"] = restored
	for _, name := range []string{"labels", "annotations"} {
		if err := copyStrings(restored, changed, name); err != nil {
			return err
		}
	}
	return nil
}

// copyStrings copies the labels or annotations of a response to metadata. They are validated if
// they have changed.
func copyStrings(metadata, changed map[string]any, name string) error {
	value := changed[name]
	if value == nil {
		delete(metadata, name)
		return nil
	}
	values, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, value)
	}
	before, _ := metadata[name].(map[string]any)
	different := len(before) != len(values)
	texts := make(map[string]string, len(values))
	for key, value := range values {
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, value)
		}
		texts[key] = text
		different = different || before[key] != value
	}
	metadata[name] = values
	if !different {
		return nil
	}
	return validateStrings(name, texts)
}

func validateStrings(name string, texts map[string]string) error {
	if name == "labels" {
		return metav1validation.ValidateLabels(texts, field.NewPath("metadata", "labels")).ToAggregate()
	}
	// The path is singular, as in kube-apiserver.
	return apivalidation.ValidateAnnotations(texts, field.NewPath("metadata", "annotation")).ToAggregate()
}
