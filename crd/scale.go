package crd

import (
	"fmt"
	"math"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// scale returns the paths of the scale subresource, nil if the version has none.
func (v *version) scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.spec.Subresources == nil {
		return nil
	}
	return v.spec.Subresources.Scale
}

// parts splits a simple path such as .spec.replicas.
func parts(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

func (v *version) scaleSubresource() registry.Subresource {
	paths := v.scale()
	return registry.Subresource{
		Name:  "scale",
		Verbs: []string{"get", "patch", "update"},
		Kind:  autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
		New:   func() runtime.Object { return &autoscalingv1.Scale{} },
		View: &registry.View{
			FromObject: scaleView(paths, func(*autoscalingv1.Scale) error { return nil }),
			Read: scaleView(paths, func(*autoscalingv1.Scale) error {
				return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", paths.SpecReplicasPath))
			}),
			Base: scaleView(paths, func(scale *autoscalingv1.Scale) error {
				scale.Spec.Replicas = unsetReplicas
				return nil
			}),
			ToObject: func(view, obj runtime.Object) error { return writeScale(view, content(obj), paths) },
			Validate: func(view runtime.Object) error { return validateScaleView(view, paths) },
			Replicas: v.definition.replicas,
			Columns:  kind.ScaleColumns(),
		},
	}
}

// replicas returns the path of the replicas of a version by name, nil if the version does not exist
// or has no scale subresource.
func (d *definition) replicas(name string) fieldpath.Path {
	v := d.version(name)
	if v == nil || v.scale() == nil {
		return nil
	}
	var path fieldpath.Path
	for _, field := range parts(v.scale().SpecReplicasPath) {
		path = append(path, fieldpath.PathElement{FieldName: &field})
	}
	return path
}

// unsetReplicas are the replicas of the scale that the proposal of a write starts from, if the
// object has none. The proposal must set them.
const unsetReplicas = math.MinInt32

// scaleView returns a function that returns the scale of an object. It calls unset if the object
// has no replicas.
func scaleView(paths *apiextensionsv1.CustomResourceSubresourceScale, unset func(*autoscalingv1.Scale) error) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		scale, found, err := scaleOf(obj.(*unstructured.Unstructured), paths)
		if err == nil && !found {
			err = unset(scale)
		}
		if err != nil {
			return nil, err
		}
		return scale, nil
	}
}

// validateScaleView requires replicas. They are validated as a field of the object.
func validateScaleView(view runtime.Object, paths *apiextensionsv1.CustomResourceSubresourceScale) error {
	if view.(*autoscalingv1.Scale).Spec.Replicas == unsetReplicas {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", paths.SpecReplicasPath))
	}
	return nil
}

// scaleOf returns the scale of an object, and whether the object has replicas.
func scaleOf(u *unstructured.Unstructured, paths *apiextensionsv1.CustomResourceSubresourceScale) (*autoscalingv1.Scale, bool, error) {
	replicas, found, err := unstructured.NestedInt64(u.Object, parts(paths.SpecReplicasPath)...)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	current, _, err := unstructured.NestedInt64(u.Object, parts(paths.StatusReplicasPath)...)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(),
			ResourceVersion: u.GetResourceVersion(), CreationTimestamp: u.GetCreationTimestamp(),
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(replicas)},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(current)},
	}
	if paths.LabelSelectorPath != nil && *paths.LabelSelectorPath != "" {
		scale.Status.Selector, _, err = unstructured.NestedString(u.Object, parts(*paths.LabelSelectorPath)...)
	}
	return scale, found, err
}

func writeScale(view runtime.Object, object map[string]any, paths *apiextensionsv1.CustomResourceSubresourceScale) error {
	replicas := int64(view.(*autoscalingv1.Scale).Spec.Replicas)
	return unstructured.SetNestedField(object, replicas, parts(paths.SpecReplicasPath)...)
}

// validateScale validates the fields that the scale reads.
func (v *version) validateScale(object map[string]any) field.ErrorList {
	if v.scale() == nil {
		return nil
	}
	return append(validateReplicas(object, v.scale().SpecReplicasPath), v.validateScaleStatus(object)...)
}

func (v *version) validateScaleStatus(object map[string]any) field.ErrorList {
	paths := v.scale()
	if paths == nil {
		return nil
	}
	errs := validateReplicas(object, paths.StatusReplicasPath)
	if paths.LabelSelectorPath == nil {
		return errs
	}
	if text, _, err := unstructured.NestedString(object, parts(*paths.LabelSelectorPath)...); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(*paths.LabelSelectorPath), text, err.Error()))
	}
	return errs
}

func validateReplicas(object map[string]any, path string) field.ErrorList {
	replicas, _, err := unstructured.NestedInt64(object, parts(path)...)
	invalid := func(text string) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath(path), replicas, text)}
	}
	switch {
	case err != nil:
		return invalid(err.Error())
	case replicas < 0:
		return invalid("should be a non-negative integer")
	case replicas > math.MaxInt32:
		return invalid(fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))
	}
	return nil
}
