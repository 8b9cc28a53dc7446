package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"

	"github.com/miniapi/miniapi/registry"
)

// PodSecurity enforces the Pod Security Standards that the labels of a namespace, or the defaults,
// select. It rejects pods that violate the enforced standard, and warns about pod templates that
// would. It rejects invalid labels of namespaces, and warns about existing pods that violate a
// stricter standard. The step reads the resources "namespaces" and "pods" of the catalog.
func PodSecurity(config PodSecurityConfig) registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PodSecurity", Validate: config.check}
}

func (c PodSecurityConfig) check(ctx context.Context, a *registry.Attributes) error {
	if a.Operation != registry.OperationCreate && a.Operation != registry.OperationUpdate {
		return nil
	}
	if pod, ok := a.Object.(*corev1.Pod); ok {
		return c.checkPod(ctx, a, pod)
	}
	if a.Subresource != "" {
		return nil
	}
	if namespace, ok := a.Object.(*corev1.Namespace); ok {
		return c.checkLabels(ctx, a, namespace)
	}
	if template := templateOf(a.Object); template != nil {
		return c.checkTemplate(ctx, a, template)
	}
	return nil
}

func (c PodSecurityConfig) checkPod(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) error {
	if a.Subresource == "status" || c.exempts(ctx, a) {
		return nil
	}
	standards, labelErrs, err := c.standards(ctx, a)
	if err != nil {
		return err
	}
	if len(labelErrs) == 0 && standards.FullyPrivileged() {
		annotateEnforced(ctx, api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()})
		return nil
	}
	if old, update := a.OldObject.(*corev1.Pod); update && sameImages(&pod.Spec, &old.Spec) || c.exemptsRuntimeClass(ctx, &pod.Spec) {
		return nil
	}
	annotateLabelErrors(ctx, labelErrs)
	annotateEnforced(ctx, standards.Enforce)
	template := &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
	auditPodSecurity(ctx, standards.Audit, template)
	if text := violation(standards.Enforce, template); text != "" {
		return forbidden(a, errors.New("violates "+text))
	}
	warn(ctx, standards.Warn, template)
	return nil
}

// checkTemplate does not reject templates, because their pods are checked on creation.
func (c PodSecurityConfig) checkTemplate(ctx context.Context, a *registry.Attributes, template *corev1.PodTemplateSpec) error {
	if c.exempts(ctx, a) {
		return nil
	}
	standards, labelErrs, err := c.standards(ctx, a)
	if err != nil {
		return err
	}
	unchecked := standards.Audit.Level == api.LevelPrivileged && standards.Warn.Level == api.LevelPrivileged
	if len(labelErrs) == 0 && unchecked || c.exemptsRuntimeClass(ctx, &template.Spec) {
		return nil
	}
	annotateLabelErrors(ctx, labelErrs)
	auditPodSecurity(ctx, standards.Audit, template)
	warn(ctx, standards.Warn, template)
	return nil
}

// exempts reports whether the namespace or the user of a request is exempt, and annotates the
// request if one is.
func (c PodSecurityConfig) exempts(ctx context.Context, a *registry.Attributes) bool {
	user := registry.UserFrom(ctx)
	switch {
	case slices.Contains(c.Exemptions.Namespaces, a.Namespace):
		annotatePodSecurity(ctx, api.ExemptionReasonAnnotationKey, "namespace")
	case user != nil && slices.Contains(c.Exemptions.Usernames, user.Username):
		annotatePodSecurity(ctx, api.ExemptionReasonAnnotationKey, "user")
	default:
		return false
	}
	return true
}

// exemptsRuntimeClass reports whether the runtime class of a pod is exempt, and annotates the
// request if it is.
func (c PodSecurityConfig) exemptsRuntimeClass(ctx context.Context, spec *corev1.PodSpec) bool {
	if !c.hasExemptRuntimeClass(spec) {
		return false
	}
	annotatePodSecurity(ctx, api.ExemptionReasonAnnotationKey, "runtimeClass")
	return true
}

func (c PodSecurityConfig) hasExemptRuntimeClass(spec *corev1.PodSpec) bool {
	return spec.RuntimeClassName != nil && slices.Contains(c.Exemptions.RuntimeClasses, *spec.RuntimeClassName)
}

// standards returns the standards of the namespace of the request, and the errors of its labels. A
// namespace that does not exist has the defaults.
func (c PodSecurityConfig) standards(ctx context.Context, a *registry.Attributes) (api.Policy, field.ErrorList, error) {
	store, ok := a.Catalog.Store(namespaces())
	if !ok {
		return c.Defaults, nil, nil
	}
	namespace, err := getObject[*corev1.Namespace](ctx, store, "", a.Namespace)
	if apierrors.IsNotFound(err) {
		return c.Defaults, nil, nil
	}
	if err != nil {
		return api.Policy{}, nil, err
	}
	standards, errs := c.standardsOf(namespace)
	return standards, errs, nil
}

// standardsOf returns the standards that the labels of a namespace select. An invalid label selects
// the strictest standard for enforcement, and none for audit and warnings.
func (c PodSecurityConfig) standardsOf(namespace *corev1.Namespace) (api.Policy, field.ErrorList) {
	return api.PolicyToEvaluate(namespace.Labels, c.Defaults)
}

func auditPodSecurity(ctx context.Context, standard api.LevelVersion, template *corev1.PodTemplateSpec) {
	if text := violation(standard, template); text != "" {
		annotatePodSecurity(ctx, api.AuditViolationsAnnotationKey, "would violate "+text)
	}
}

func annotateEnforced(ctx context.Context, standard api.LevelVersion) {
	annotatePodSecurity(ctx, api.EnforcedPolicyAnnotationKey, standard.String())
}

func annotateLabelErrors(ctx context.Context, errs field.ErrorList) {
	if len(errs) > 0 {
		annotatePodSecurity(ctx, "error", fmt.Sprintf("Failed to parse policy: %v", errs.ToAggregate()))
	}
}

func annotatePodSecurity(ctx context.Context, key, value string) {
	registry.AddAuditAnnotation(ctx, api.AuditAnnotationPrefix+key, value)
}

func warn(ctx context.Context, standard api.LevelVersion, template *corev1.PodTemplateSpec) {
	if text := violation(standard, template); text != "" {
		registry.AddWarning(ctx, "would violate "+text)
	}
}
