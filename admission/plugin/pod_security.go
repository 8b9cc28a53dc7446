package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/pod-security-admission/api"

	"github.com/miniapi/miniapi/registry"
)

// PodSecurity enforces the Pod Security Standards that the labels of a namespace select. It rejects
// pods that violate the enforced standard, and warns about pod templates that would. It rejects
// invalid labels of namespaces, and warns about existing pods that violate a stricter standard.
// Audit annotations go to the log. The step reads the resources "namespaces" and "pods" of the
// catalog.
func PodSecurity(log *slog.Logger) registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PodSecurity", Validate: podSecurity{log}.validate}
}

type podSecurity struct{ log *slog.Logger }

func (s podSecurity) validate(ctx context.Context, a *registry.Attributes) error {
	if a.Operation != registry.OperationCreate && a.Operation != registry.OperationUpdate {
		return nil
	}
	if pod, ok := a.Object.(*corev1.Pod); ok {
		return s.checkPod(ctx, a, pod)
	}
	if a.Subresource != "" {
		return nil
	}
	if namespace, ok := a.Object.(*corev1.Namespace); ok {
		return checkSecurityLabels(ctx, a, namespace)
	}
	if template := templateOf(a.Object); template != nil {
		return s.warnOfTemplate(ctx, a, template)
	}
	return nil
}

func (s podSecurity) checkPod(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) error {
	old, update := a.OldObject.(*corev1.Pod)
	if a.Subresource == "status" || update && sameImages(&pod.Spec, &old.Spec) {
		return nil
	}
	standards, err := s.standards(ctx, a)
	if err != nil {
		return err
	}
	template := &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
	s.audit(ctx, standards.Audit, template)
	if text := violation(standards.Enforce, template); text != "" {
		return forbidden(a, errors.New("violates "+text))
	}
	warn(ctx, standards.Warn, template)
	return nil
}

// warnOfTemplate does not reject templates, because their pods are checked on creation.
func (s podSecurity) warnOfTemplate(ctx context.Context, a *registry.Attributes, template *corev1.PodTemplateSpec) error {
	standards, err := s.standards(ctx, a)
	if err != nil {
		return err
	}
	s.audit(ctx, standards.Audit, template)
	warn(ctx, standards.Warn, template)
	return nil
}

// standards returns the standards of the namespace of the request. A namespace that does not exist
// has none.
func (s podSecurity) standards(ctx context.Context, a *registry.Attributes) (api.Policy, error) {
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
		s.annotate(ctx, "error", fmt.Sprintf("Failed to parse policy: %v", errs.ToAggregate()))
	}
	return standards, nil
}

func (s podSecurity) audit(ctx context.Context, standard api.LevelVersion, template *corev1.PodTemplateSpec) {
	if text := violation(standard, template); text != "" {
		s.annotate(ctx, api.AuditViolationsAnnotationKey, "would violate "+text)
	}
}

func (s podSecurity) annotate(ctx context.Context, key, value string) {
	s.log.DebugContext(ctx, "audit annotation of an admission step", "key", api.AuditAnnotationPrefix+key, "value", value)
}

func warn(ctx context.Context, standard api.LevelVersion, template *corev1.PodTemplateSpec) {
	if text := violation(standard, template); text != "" {
		registry.AddWarning(ctx, "would violate "+text)
	}
}
