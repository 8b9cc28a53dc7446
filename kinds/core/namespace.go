package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func namespaces(features *feature.Set) *registry.Resource {
	finalize := kind.Write[*corev1.Namespace]{
		AllowUnconditional: true,
		Prepare:            func(_ context.Context, n, old *corev1.Namespace) { n.Status = old.Status },
		Validate:           validateFinalize,
		Owns:               kind.Except("status"),
	}.Subresource("finalize")
	finalize.Verbs = []string{"update"}
	return kind.Definition[*corev1.Namespace]{
		GroupVersion:         corev1.SchemeGroupVersion,
		Object:               &corev1.Namespace{},
		List:                 &corev1.NamespaceList{},
		Resource:             "namespaces",
		GenerateNameOnUpdate: true,
		ShortNames:           []string{"ns"},
		Verbs:                []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		Status:               true,

		ValidateName:             validation.NameIsDNSLabel,
		Validate:                 validateNamespace,
		Canonicalize:             labelNamespace,
		PrepareForCreate:         prepareNamespace,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         func(_ context.Context, n, old *corev1.Namespace) { n.Spec.Finalizers = old.Spec.Finalizers },
		HoldsDeletion:            holdsNamespace,
		MarkDeleted:              markNamespace,
		ReturnDeletedObject:      true,
		ValidateStatusUpdate:     validateNamespaceStatus,
		Default:                  defaultNamespace,
		FieldLabel:               kind.FieldLabels("metadata.name", "status.phase"),
		Fields: func(n *corev1.Namespace) fields.Set {
			return fields.Set{"status.phase": string(n.Status.Phase)}
		},
		Columns: kind.StandardColumns(
			kind.TextColumn("Status", "The status of the namespace",
				func(n *corev1.Namespace) any { return string(n.Status.Phase) }),
		),
		Subresources: []registry.Subresource{finalize},
	}.Build(features)
}

// holdsNamespace returns true for the first deletion, which only marks a namespace, and as long as
// its spec has finalizers.
func holdsNamespace(n *corev1.Namespace) bool {
	return n.DeletionTimestamp == nil || len(n.Spec.Finalizers) > 0
}

// markNamespace makes a namespace Terminating and gives it the finalizers of the garbage collector
// that the options ask for. Unlike for other kinds, orphanDependents=false asks for foreground
// deletion.
func markNamespace(n *corev1.Namespace, opts *metav1.DeleteOptions) {
	n.Status.Phase = corev1.NamespaceTerminating
	var foreground, orphan bool
	switch {
	case opts.OrphanDependents != nil: //nolint:staticcheck // deprecated, but clients send it
		orphan = *opts.OrphanDependents //nolint:staticcheck // as above
		foreground = !orphan
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	default:
		return
	}
	n.Finalizers = withFinalizer(n.Finalizers, metav1.FinalizerOrphanDependents, orphan)
	n.Finalizers = withFinalizer(n.Finalizers, metav1.FinalizerDeleteDependents, foreground)
}

// withFinalizer returns the finalizers with one of them present or absent.
func withFinalizer(finalizers []string, name string, present bool) []string {
	if slices.Contains(finalizers, name) == present {
		return finalizers
	}
	if present {
		return append(slices.Clip(finalizers), name)
	}
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == name })
}

func prepareNamespace(_ context.Context, n *corev1.Namespace) {
	n.Status.Phase = corev1.NamespaceActive
	if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
		n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// labelNamespace sets the label of a namespace's name. It runs before validation, which rejects
// names that are too long for a label, and after it, when a name has been generated.
func labelNamespace(n *corev1.Namespace) {
	if n.Name == "" {
		return
	}
	if n.Labels == nil {
		n.Labels = make(map[string]string, 1)
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}
