package crd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// validate looks at a new object.
func (v *version) validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	object := content(obj)
	structure, err := v.structure()
	if err != nil {
		return unusable(err)
	}
	validator, err := v.validator()
	if err != nil {
		return unusable(err)
	}
	c := change{object: object, structure: structure}
	faults := validation.ValidateCustomResource(nil, v.named(object), validator)
	faults = append(faults, v.validateScale(object)...)
	faults = append(faults, v.validateEmbedded(ctx, c)...)
	faults = append(faults, v.validateLists(c)...)
	return append(faults, v.validateRules(ctx, faults, c)...)
}

// validateUpdate looks at a changed object. What was wrong before and has not
// been touched is let pass.
func (v *version) validateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, err := v.change(content(obj), content(old))
	if err != nil {
		return unusable(err)
	}
	validator, err := v.validator()
	if err != nil {
		return unusable(err)
	}
	faults := validation.ValidateCustomResourceUpdate(nil, v.named(c.object), v.named(c.old), validator, validation.WithRatcheting(c.correlated))
	faults = append(faults, v.validateScale(c.object)...)
	faults = append(faults, v.validateEmbedded(ctx, c)...)
	faults = append(faults, v.validateLists(c)...)
	return append(faults, v.validateRules(ctx, faults, c)...)
}

// validateStatus looks at an object whose status has changed.
func (v *version) validateStatus(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, err := v.change(content(obj), content(old))
	if err != nil {
		return unusable(err)
	}
	validator, err := v.statusValidator()
	if err != nil {
		return unusable(err)
	}
	var options []validation.ValidationOption
	if c.structure != nil {
		options = append(options, validation.WithRatcheting(c.correlated.Key("status")))
	}
	var faults field.ErrorList
	if status, ok := c.object["status"]; ok {
		faults = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, c.old["status"], validator, options...)
	}
	faults = append(faults, v.validateScaleStatus(c.object)...)
	faults = append(faults, v.validateLists(c)...)
	return append(faults, v.validateRules(ctx, faults, c)...)
}

// change is what validation sees of a write.
type change struct {
	object     map[string]any
	old        map[string]any // nil for a new object
	structure  *structuralschema.Structural
	correlated *common.CorrelatedObject // nil for a new object
}

func (v *version) change(object, old map[string]any) (change, error) {
	structure, err := v.structure()
	if err != nil {
		return change{}, err
	}
	c := change{object: object, old: old, structure: structure}
	c.correlated = common.NewCorrelatedObject(v.named(object), v.named(old), &model.Structural{Structural: structure})
	return c, nil
}

// validateEmbedded looks at the metadata of objects within the object.
func (v *version) validateEmbedded(ctx context.Context, c change) field.ErrorList {
	if !v.traits().embedded {
		return nil
	}
	return objectmeta.Validate(ctx, nil, c.object, c.structure, false)
}

// validateLists lets items that come twice pass where some did before.
func (v *version) validateLists(c change) field.ErrorList {
	if !v.traits().lists {
		return nil
	}
	faults := listtype.ValidateListSetsAndMaps(nil, c.structure, c.object)
	if len(faults) == 0 || len(listtype.ValidateListSetsAndMaps(nil, c.structure, c.old)) > 0 {
		return nil
	}
	return faults
}

// validateRules evaluates the expressions of the schema, unless the faults so
// far mean that they cannot be trusted with the object.
func (v *version) validateRules(ctx context.Context, faults field.ErrorList, c change) field.ErrorList {
	rules := v.rules()
	if rules == nil {
		return nil
	}
	if slices.ContainsFunc(append(faults, v.validateMetadata(c)...), blocksRules) {
		return field.ErrorList{field.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
	}
	object, old := v.named(c.object), any(nil)
	var options []cel.Option
	if c.old != nil {
		old = v.named(c.old)
		options = append(options, cel.WithRatcheting(c.correlated))
	}
	found, _ := rules.Validate(ctx, nil, c.structure, object, old, celconfig.RuntimeCELCostBudget, options...)
	return found
}

// validateMetadata finds what the registry reports.
func (v *version) validateMetadata(c change) field.ErrorList {
	at := field.NewPath("metadata")
	now := &unstructured.Unstructured{Object: c.object}
	if c.old == nil {
		return apivalidation.ValidateObjectMetaAccessor(now, v.namespaced, apivalidation.NameIsDNSSubdomain, at)
	}
	return apivalidation.ValidateObjectMetaAccessorUpdate(now, &unstructured.Unstructured{Object: c.old}, at)
}

func blocksRules(fault *field.Error) bool {
	switch fault.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// unusable: a schema was checked when it was written, so that only one that came
// into etcd by another way cannot be used.
func unusable(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("the schema cannot be used: %w", err))}
}

// finalizerWarnings warns of new finalizers that might be somebody else's too.
func finalizerWarnings(obj, old runtime.Object) []string {
	now, before := finalizersOf(obj), finalizersOf(old)
	slices.Sort(now)
	var warnings []string
	for _, name := range slices.Compact(now) {
		if !slices.Contains(before, name) {
			warnings = append(warnings, finalizerWarning(name)...)
		}
	}
	return warnings
}

func finalizerWarning(name string) []string {
	var warnings []string
	warn := func(text string) { warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: %s", name, text)) }
	for _, text := range utilvalidation.IsQualifiedName(name) {
		warn(text)
	}
	standard := []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes)}
	switch {
	case strings.Contains(name, "/"), slices.Contains(standard, name):
	case strings.Contains(name, "."):
		warn("prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers")
	default:
		warn("prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers")
	}
	return warnings
}

func finalizersOf(obj runtime.Object) []string {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return slices.Clone(accessor.GetFinalizers())
}
