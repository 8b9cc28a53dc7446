package plugin

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/registry"
)

const (
	// nodeSelectorAnnotation is the annotation of a namespace with the node selector of its pods.
	nodeSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"
	// defaultSelector is the name of the selector for namespaces without the annotation.
	defaultSelector = "clusterDefaultNodeSelector"
)

// PodNodeSelector adds the node selector of its namespace to a new pod, and rejects a pod whose
// selector conflicts with it. The selector is in an annotation of the namespace, or is the selector
// clusterDefaultNodeSelector. The other selectors are the allowed labels of the pods of a
// namespace, by its name. The step reads the resource "namespaces" of the catalog.
func PodNodeSelector(selectors map[string]string) registry.AdmissionStep {
	n := nodeSelectors(selectors)
	return registry.AdmissionStep{Name: "PodNodeSelector", Admit: n.merge, Validate: n.check}
}

type nodeSelectors map[string]string

// nodeSelectorConfig is the configuration of PodNodeSelector. It has no version.
type nodeSelectorConfig struct {
	Selectors map[string]string `json:"podNodeSelectorPluginConfig"`
}

func parseNodeSelectors(data []byte) (map[string]string, error) {
	var config nodeSelectorConfig
	err := yaml.Unmarshal(data, &config)
	return config.Selectors, err
}

func (n nodeSelectors) merge(ctx context.Context, a *registry.Attributes) error {
	pod, ok := created[*corev1.Pod](a)
	if !ok {
		return nil
	}
	selector, err := n.ofNamespace(ctx, a, pod)
	if err != nil {
		return err
	}
	pod.Spec.NodeSelector = labels.Merge(selector, pod.Spec.NodeSelector)
	return n.check(ctx, a)
}

func (n nodeSelectors) check(ctx context.Context, a *registry.Attributes) error {
	pod, ok := created[*corev1.Pod](a)
	if !ok {
		return nil
	}
	if _, err := n.ofNamespace(ctx, a, pod); err != nil {
		return err
	}
	allowed, err := labels.ConvertSelectorToLabelsMap(n[a.Namespace])
	if err != nil {
		return err
	}
	if len(allowed) == 0 {
		return nil
	}
	for key, value := range pod.Spec.NodeSelector {
		if other, ok := allowed[key]; !ok || other != value {
			return podForbidden(a, pod, "pod node label selector labels conflict with its namespace whitelist")
		}
	}
	return nil
}

// ofNamespace returns the node selector of the namespace of a pod. It is an error if the pod
// conflicts with it.
func (n nodeSelectors) ofNamespace(ctx context.Context, a *registry.Attributes, pod *corev1.Pod) (labels.Set, error) {
	namespace, err := namespaceOf(ctx, a)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewInternalError(fmt.Errorf("namespace %s does not exist", a.Namespace))
	}
	if err != nil {
		return nil, err
	}
	text, ok := namespace.Annotations[nodeSelectorAnnotation]
	if !ok {
		text = n[defaultSelector]
	}
	selector, err := labels.ConvertSelectorToLabelsMap(text)
	if err != nil {
		return nil, err
	}
	if labels.Conflicts(selector, pod.Spec.NodeSelector) {
		return nil, podForbidden(a, pod, "pod node label selector conflicts with its namespace node label selector")
	}
	return selector, nil
}

// podForbidden returns a 403 with the name of the pod, which may still be empty.
func podForbidden(a *registry.Attributes, pod *corev1.Pod, reason string) error {
	return apierrors.NewForbidden(a.Resource.GroupResource(), pod.Name, errors.New(reason))
}
