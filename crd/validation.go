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
	"k8s.io/apiserver/pkg/warning"

	"github.com/miniapi/miniapi/registry"
)

// validate validates a new object.
func (v *version) validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	object := content(obj)
	structure, err := v.structure()
	if err != nil {
		return schemaError(err)
	}
	validator, err := v.validator()
	if err != nil {
		return schemaError(err)
	}
	c := change{object: object, structure: structure}
	errs := validation.ValidateCustomResource(nil, v.withKind(object), validator)
	errs = append(errs, v.validateScale(object)...)
	errs = append(errs, v.validateEmbedded(ctx, c)...)
	errs = append(errs, v.validateLists(c)...)
	return append(errs, v.validateRules(ctx, errs, c)...)
}

// validateUpdate validates an update with ratcheting: invalid values that have not changed are
// accepted. As in kube-apiserver, it repeats the errors of the metadata.
func (v *version) validateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, err := v.change(content(obj), content(old))
	if err != nil {
		return schemaError(err)
	}
	validator, err := v.validator()
	if err != nil {
		return schemaError(err)
	}
	errs := v.validateMetadata(c)
	errs = append(errs, validation.ValidateCustomResourceUpdate(nil, v.withKind(c.object), v.withKind(c.old), validator, validation.WithRatcheting(c.correlated))...)
	errs = append(errs, v.validateScale(c.object)...)
	errs = append(errs, v.validateEmbedded(ctx, c)...)
	errs = append(errs, v.validateLists(c)...)
	return append(errs, v.validateRules(ctx, errs, c)...)
}

// validateStatus validates an update of the status.
func (v *version) validateStatus(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	c, err := v.change(content(obj), content(old))
	if err != nil {
		return schemaError(err)
	}
	validator, err := v.statusValidator()
	if err != nil {
		return schemaError(err)
	}
	var options []validation.ValidationOption
	if c.structure != nil {
		options = append(options, validation.WithRatcheting(c.correlated.Key("status")))
	}
	var errs field.ErrorList
	if status, ok := c.object["status"]; ok {
		errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, c.old["status"], validator, options...)
	}
	errs = append(errs, v.validateScaleStatus(c.object)...)
	errs = append(errs, v.validateLists(c)...)
	return append(errs, v.validateRules(ctx, errs, c)...)
}

// change is the input of validation.
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
	c.correlated = common.NewCorrelatedObject(v.withKind(object), v.withKind(old), &model.Structural{Structural: structure})
	return c, nil
}

// validateEmbedded validates the metadata of embedded objects.
func (v *version) validateEmbedded(ctx context.Context, c change) field.ErrorList {
	if !v.features().embedded {
		return nil
	}
	return objectmeta.Validate(ctx, nil, c.object, c.structure, false)
}

// validateLists rejects duplicate items of sets and maps, unless the old object has duplicates too.
func (v *version) validateLists(c change) field.ErrorList {
	if !v.features().lists {
		return nil
	}
	errs := listtype.ValidateListSetsAndMaps(nil, c.structure, c.object)
	if len(errs) == 0 || len(listtype.ValidateListSetsAndMaps(nil, c.structure, c.old)) > 0 {
		return nil
	}
	return errs
}

// validateRules evaluates the CEL rules of the schema, unless the errors found so far block them.
func (v *version) validateRules(ctx context.Context, errs field.ErrorList, c change) field.ErrorList {
	rules := v.rules()
	if rules == nil {
		return nil
	}
	if slices.ContainsFunc(append(errs, v.validateMetadata(c)...), blocksRules) {
		return field.ErrorList{field.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
	}
	object, old := v.withKind(c.object), any(nil)
	var options []cel.Option
	if c.old != nil {
		old = v.withKind(c.old)
		options = append(options, cel.WithRatcheting(c.correlated))
		ctx = warning.WithWarningRecorder(ctx, ratchetedErrors{ctx})
	}
	found, _ := rules.Validate(ctx, nil, c.structure, object, old, celconfig.RuntimeCELCostBudget, options...)
	return found
}

// ratchetedErrors adds the errors of rules for unchanged values to the warnings of a request.
type ratchetedErrors struct{ ctx context.Context }

// AddWarning implements warning.Recorder.
func (r ratchetedErrors) AddWarning(_, text string) { registry.AddWarning(r.ctx, text) }

// validateMetadata returns errors that block rules. The registry reports them.
func (v *version) validateMetadata(c change) field.ErrorList {
	at := field.NewPath("metadata")
	now := &unstructured.Unstructured{Object: c.object}
	if c.old == nil {
		return apivalidation.ValidateObjectMetaAccessor(now, v.namespaced, apivalidation.NameIsDNSSubdomain, at)
	}
	return apivalidation.ValidateObjectMetaAccessorUpdate(now, &unstructured.Unstructured{Object: c.old}, at)
}

// blocksRules reports whether rules cannot be evaluated because of an error.
func blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// schemaError returns the error for a schema that cannot be compiled. Schemas are validated when a
// definition is written, so this is one that was written to etcd directly.
func schemaError(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("the schema cannot be used: %w", err))}
}

// finalizerWarnings returns warnings for new finalizers whose names may conflict with others.
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
