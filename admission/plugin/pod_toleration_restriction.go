package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

// Annotations of a namespace with tolerations of its pods, as a JSON list. They replace the lists
// of [TolerationConfig].
const (
	defaultTolerations   = "scheduler.alpha.kubernetes.io/defaultTolerations"
	tolerationsWhitelist = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
)

// TolerationConfig is the Configuration of podtolerationrestriction.admission.k8s.io/v1alpha1.
type TolerationConfig struct {
	// Default are the tolerations that new pods get.
	Default []corev1.Toleration `json:"default,omitempty"`
	// Whitelist are the tolerations that pods may have. Empty: all.
	Whitelist []corev1.Toleration `json:"whitelist,omitempty"`
}

// PodTolerationRestriction adds the default tolerations of its namespace to a new pod, and the
// toleration of memory pressure to a pod whose QoS class is not BestEffort. It rejects pods with a
// toleration that is not covered by the whitelist of the namespace. The step reads the resource
// "namespaces" of the catalog.
func PodTolerationRestriction(config TolerationConfig) registry.AdmissionStep {
	return registry.AdmissionStep{Name: "PodTolerationRestriction", Admit: config.merge, Validate: config.check}
}

func parseTolerations(data []byte) (TolerationConfig, error) {
	if data == nil {
		return TolerationConfig{}, nil
	}
	config, err := decode[TolerationConfig](data, "podtolerationrestriction.admission.k8s.io/v1alpha1")
	if err != nil {
		return config, err
	}
	at := field.NewPath("podtolerationrestriction")
	errs := slices.Concat(
		podspec.ValidateTolerations(config.Default, feature.Default(), at.Child("default")),
		podspec.ValidateTolerations(config.Whitelist, feature.Default(), at.Child("whitelist")),
	)
	if len(errs) > 0 {
		return config, fmt.Errorf("invalid config: %v", errs)
	}
	return config, nil
}

func (c TolerationConfig) merge(ctx context.Context, a *registry.Attributes) error {
	pod, ok := written[*corev1.Pod](a)
	if !ok {
		return nil
	}
	var added []corev1.Toleration
	if a.Operation == registry.OperationCreate {
		var err error
		if added, err = tolerationsOf(ctx, a, defaultTolerations); err != nil {
			return err
		}
		if added == nil {
			added = c.Default
		}
	}
	if cmp.Or(pod.Status.QOSClass, resourcelist.QOSClass(&pod.Spec)) != corev1.PodQOSBestEffort {
		added = append(slices.Clip(added), corev1.Toleration{
			Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	if len(added) > 0 {
		pod.Spec.Tolerations = mergeTolerations(slices.Concat(pod.Spec.Tolerations, added))
	}
	return c.check(ctx, a)
}

// check returns an error without a status, which makes the answer a 500, as in kube-apiserver.
func (c TolerationConfig) check(ctx context.Context, a *registry.Attributes) error {
	pod, ok := written[*corev1.Pod](a)
	if !ok || len(pod.Spec.Tolerations) == 0 {
		return nil
	}
	allowed, err := tolerationsOf(ctx, a, tolerationsWhitelist)
	if err != nil {
		return err
	}
	scope := "namespace"
	if allowed == nil {
		allowed, scope = c.Whitelist, "cluster"
	}
	for _, t := range pod.Spec.Tolerations {
		covers := func(other corev1.Toleration) bool { return sameToleration(other, t) || isSuperset(other, t) }
		if len(allowed) > 0 && !slices.ContainsFunc(allowed, covers) {
			return fmt.Errorf("pod tolerations (possibly merged with namespace default tolerations) conflict with its %s whitelist", scope)
		}
	}
	return nil
}

// tolerationsOf returns the tolerations in an annotation of the namespace of a write: nil without
// the annotation, an empty list if it is empty.
func tolerationsOf(ctx context.Context, a *registry.Attributes, annotation string) ([]corev1.Toleration, error) {
	namespace, err := namespaceOf(ctx, a)
	if err != nil {
		return nil, err
	}
	text, ok := namespace.Annotations[annotation]
	if !ok {
		return nil, nil
	}
	var list []corev1.Toleration
	if text != "" {
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, err
		}
	}
	return append([]corev1.Toleration{}, list...), nil
}
