package plugin

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/pod-security-admission/api"

	"github.com/miniapi/miniapi/registry"
)

// PodSecurity enforces the Pod Security Standards that the labels of a namespace select. It rejects
// pods that violate the enforced standard, and warns about pod templates that would. It rejects
// invalid labels of namespaces, and warns about existing pods that violate a stricter standard.
// The step reads the resources "namespaces" and "pods" of the
// catalog.
func PodSecurity() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PodSecurity", Validate: checkPodSecurity}
}

func checkPodSecurity(ctx context.Context, a *registry.Attributes) error {
	if a.Operation != registry.OperationCreate && a.Operation != registry.OperationUpdate {
		return nil
	}
	if pod, ok := a.Object.(*corev1.Pod); ok {
		return checkPodStandards(ctx, a, pod)
	}
	if a.Subresource != "" {
		return nil
	}
	if namespace, ok := a.Object.(*corev1.Namespace); ok {
		return checkSecurityLabels(ctx, a, namespace)
	}
	if template := templateOf(a.Object); template != nil {
		return checkPodTemplate(ctx, a, template)
	}
	return nil
}

func checkPodStandards(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) error {
	old, update := a.OldObject.(*corev1.Pod)
	if a.Subresource == "status" || update && sameImages(&pod.Spec, &old.Spec) {
		return nil
	}
	standards, err := securityStandards(ctx, a)
	if err != nil {
		return err
	}
	annotatePodSecurity(ctx, api.EnforcedPolicyAnnotationKey, standards.Enforce.String())
	template := &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
	auditPodSecurity(ctx, standards.Audit, template)
	if text := violation(standards.Enforce, template); text != "" {
		return forbidden(a, errors.New("violates "+text))
	}
	warn(ctx, standards.Warn, template)
	return nil
}

// checkPodTemplate does not reject templates, because their pods are checked on creation.
func checkPodTemplate(ctx context.Context, a *registry.Attributes, template *corev1.PodTemplateSpec) error {
	standards, err := securityStandards(ctx, a)
	if err != nil {
		return err
	}
	auditPodSecurity(ctx, standards.Audit, template)
	warn(ctx, standards.Warn, template)
	return nil
}

// securityStandards returns the standards of the namespace of the request. A namespace that does
// not exist has none.
func securityStandards(ctx context.Context, a *registry.Attributes) (api.Policy, error) {
	store, ok := a.Catalog.Store(namespaces())
	if !ok {
		return noStandards(), nil
	}
	namespace, err := getObject[*corev1.Namespace](ctx, store, "", a.Namespace)
	if apierrors.IsNotFound(err) {
		return noStandards(), nil
	}
	if err != nil {
		return api.Policy{}, err
	}
	standards, errs := standardsOf(namespace)
	if len(errs) > 0 {
		annotatePodSecurity(ctx, "error", fmt.Sprintf("Failed to parse policy: %v", errs.ToAggregate()))
	}
	return standards, nil
}

func auditPodSecurity(ctx context.Context, standard api.LevelVersion, template *corev1.PodTemplateSpec) {
	if text := violation(standard, template); text != "" {
		annotatePodSecurity(ctx, api.AuditViolationsAnnotationKey, "would violate "+text)
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
