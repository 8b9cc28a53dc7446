package encoding

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// SchemeName is the name of kube-apiserver's scheme in its error texts.
const SchemeName = "pkg/runtime/scheme.go:111"

// DecodeOptions describe the object that a body must contain.
type DecodeOptions struct {
	// Kind is the expected kind, and the kind of a body without apiVersion and kind.
	Kind schema.GroupVersionKind
	// MoreVersions are other versions of Kind with the same fields.
	MoreVersions []schema.GroupVersion
	// Into is an empty object of Kind.
	Into runtime.Object
	// FieldValidation is one of metav1.FieldValidationIgnore, -Warn and -Strict.
	FieldValidation string
	// Prune removes unknown fields that the decoder keeps, and returns their paths. Nil: the
	// decoder keeps none.
	Prune func(obj runtime.Object) (unknown []string, err error)
}

// DecodeBody decodes a request body into an object without apiVersion and kind, except for an
// object without a Go type that is of another kind. With field validation Warn it returns the
// errors of unknown and duplicate fields as warnings. Every error is a 400 or a 413.
func (m *MediaType) DecodeBody(data []byte, o DecodeOptions) (obj runtime.Object, warnings []error, err error) {
	if m.check != nil {
		if err := m.check(data); err != nil {
			return nil, nil, err
		}
	}
	obj, got, err := m.Decode(data, o)
	if strict, ok := runtime.AsStrictDecodingError(err); ok && obj != nil && o.FieldValidation == metav1.FieldValidationWarn {
		warnings, err = strict.Errors(), nil
	}
	if err != nil {
		return nil, nil, decodeError(err, got, o.Kind, data)
	}
	if version := got.GroupVersion(); version != o.Kind.GroupVersion() && !slices.Contains(o.MoreVersions, version) {
		text := "the API version in the data (%s) does not match the expected API version (%s)"
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(text, got.GroupVersion(), o.Kind.GroupVersion()))
	}
	if CheckCustomKind(obj, o.Kind) == nil {
		registry.ClearKind(obj)
	}
	return obj, warnings, nil
}

// CheckCustomKind returns the 422 of an object without a Go type that is of another kind than want.
func CheckCustomKind(obj runtime.Object, want schema.GroupVersionKind) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.GetKind() == "" || u.GetKind() == want.Kind {
		return nil
	}
	invalid := field.Invalid(field.NewPath("kind"), u.GetKind(), "must be "+want.Kind)
	kind := schema.GroupKind{Group: want.Group, Kind: u.GetKind()}
	return apierrors.NewInvalid(kind, u.GetName(), field.ErrorList{invalid})
}

// Decode decodes data and returns the object and its kind. If the error is a strict decoding
// error, the object is returned as well.
func (m *MediaType) Decode(data []byte, o DecodeOptions) (runtime.Object, schema.GroupVersionKind, error) {
	serializer := m.strict
	if o.FieldValidation == metav1.FieldValidationIgnore {
		serializer = m.lax
	}
	if kind, err := m.checkQuantities(serializer, data, o); err != nil {
		return nil, kind, err
	}
	obj, kind, err := serializer.Decode(data, &o.Kind, o.Into)
	if kind == nil {
		kind = &schema.GroupVersionKind{}
	}
	switch {
	case runtime.IsNotRegisteredError(err):
		return nil, *kind, runtime.NewNotRegisteredErrForKind(SchemeName, *kind)
	case err != nil && !runtime.IsStrictDecodingError(err):
		return nil, *kind, err
	case obj != o.Into && kind.Kind != o.Kind.Kind:
		return nil, *kind, fmt.Errorf("converting (%s) to (%s.%s): unknown conversion",
			strings.TrimPrefix(reflect.TypeOf(obj).String(), "*"), internalPackage(o.Kind.Group), o.Kind.Kind)
	case o.Prune != nil && kind.GroupKind() == o.Kind.GroupKind():
		err = o.prune(obj, err, m.reportsPruned)
	}
	return obj, *kind, err
}

// prune calls Prune and, if report is set, adds the paths of the removed fields to the strict
// decoding error.
func (o DecodeOptions) prune(obj runtime.Object, strictErr error, report bool) error {
	unknown, err := o.Prune(obj)
	if err != nil {
		return err
	}
	if o.FieldValidation == metav1.FieldValidationIgnore || !report {
		return strictErr
	}
	var errs []error
	if strict, ok := runtime.AsStrictDecodingError(strictErr); ok {
		errs = strict.Errors()
	}
	for _, path := range unknown {
		errs = append(errs, fmt.Errorf("unknown field %q", path))
	}
	if len(errs) == 0 {
		return nil
	}
	return runtime.NewStrictDecodingError(errs)
}

// internalPackage returns the name of the package with kube-apiserver's internal types of a group,
// which is part of its error texts.
func internalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// decodeError returns the 400 for a body that cannot be decoded.
func decodeError(err error, got, want schema.GroupVersionKind, data []byte) error {
	if got.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(data)))
}

// summary returns the beginning of a body for an error text.
func summary(data []byte) string {
	const maxShown = 30
	if len(data) == 0 {
		return "<empty>"
	}
	shown, more := data, ""
	if len(data) > maxShown {
		shown, more = data[:maxShown], " ..."
	}
	if data[0] == '{' {
		return string(shown) + more
	}
	return hex.EncodeToString(shown) + more
}
